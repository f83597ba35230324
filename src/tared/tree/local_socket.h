// The unix socket of a node: a file in the directory in which nodes meet. Only the owner of the run can look into that
// directory, so no other user can connect. (Anyone can connect to a name in the abstract namespace. If a process has no
// descriptor left for such a connection, libzmq ends it.)
#pragma once

#include <cstdint>
#include <string>

#include "format/descriptor.h"

namespace tare::tared {

// Finds sockets in a directory, however long its path is: an address has room for 107 bytes. Connections may be made
// as long as it lives.
class SocketDirectory {
 public:
  explicit SocketDirectory(const std::string& directory);

  // For libzmq.
  std::string endpoint(std::uint32_t node) const;

 private:
  format::Descriptor directory_;
};

}  // namespace tare::tared
