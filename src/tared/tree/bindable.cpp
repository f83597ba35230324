#include "tared/tree/bindable.h"

#include <zmq.hpp>

#include "tared/tree/listen.h"

namespace tare::tared {

std::string why_not_bound(const std::string& text) {
  if (text.empty()) return "";
  const std::string address = address_to_bind(text);
  const std::string what =
      text.find('/') != std::string::npos ? "no address in " + text : "no interface or address " + text;
  std::string error = "this machine has " + what + "; it has " + all_addresses();
  if (address.empty()) return error;
  try {
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind("tcp://" + address + ":*");
  } catch (const zmq::error_t&) {
    return error;
  }
  return "";
}

}  // namespace tare::tared
