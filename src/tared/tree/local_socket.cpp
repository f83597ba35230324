#include "tared/tree/local_socket.h"

#include <fcntl.h>
#include <unistd.h>

namespace tare::tared {

SocketDirectory::SocketDirectory(const std::string& directory)
    : fd_(open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}

SocketDirectory::~SocketDirectory() {
  if (fd_ >= 0) close(fd_);
}

std::string SocketDirectory::endpoint(std::uint32_t node) const {
  return "ipc:///proc/self/fd/" + std::to_string(fd_) + "/socket-" + std::to_string(node);
}

}  // namespace tare::tared
