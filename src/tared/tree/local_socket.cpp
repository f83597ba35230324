#include "tared/tree/local_socket.h"

#include <fcntl.h>

namespace tare::tared {

SocketDirectory::SocketDirectory(const std::string& directory)
    : directory_(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}

std::string SocketDirectory::endpoint(std::uint32_t node) const {
  return "ipc:///proc/self/fd/" + std::to_string(directory_.fd()) + "/socket-" + std::to_string(node);
}

}  // namespace tare::tared
