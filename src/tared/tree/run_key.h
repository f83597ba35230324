// The key of a run: one CURVE key pair, which only the run's nodes have.
//
// It lies in the directory in which nodes meet, readable only by its owner. A node proves with it that it belongs to
// the run (ZAP admits no other key), and encrypts what it sends.
#pragma once

#include <optional>
#include <string>

#include <zmq.hpp>

namespace tare::tared {

struct RunKey {
  std::string public_key;  // Z85, 40 characters
  std::string secret_key;
};

// Makes the key and its file, unless the file exists. Nothing if that fails, with the reason in `error`.
std::optional<RunKey> make_run_key(const std::string& directory, std::string& error);
std::optional<RunKey> read_run_key(const std::string& directory, std::string& error);

// For sockets that bind, and for sockets that connect.
void secure_server(zmq::socket_t& socket, const RunKey& key);
void secure_client(zmq::socket_t& socket, const RunKey& key);

// Answers libzmq's requests (ZAP, RFC 27) whether to admit a peer: only with the run's key. One for each context.
class Gate {
 public:
  Gate(zmq::context_t& context, const RunKey& key);
  // Answers pending requests. To be called when `socket` is readable.
  void answer();
  zmq::socket_t& socket() { return socket_; }
  std::uint64_t refused() const { return refused_; }

 private:
  zmq::socket_t socket_;
  std::string public_key_;  // 32 bytes
  std::uint64_t refused_ = 0;
};

}  // namespace tare::tared
