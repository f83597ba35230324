// How nodes find one another: each writes its address to a file in a directory that all can see, such as one in the run
// directory on a shared file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/descriptor.h"

namespace tare::tared {

struct NodeAddress {
  std::string machine;     // the kernel that it runs on: nodes of one kernel share a clock
  std::string name_space;  // its network namespace: within one, nodes can use unix sockets
  std::string network;     // of a TCP socket; empty: it has a unix socket (SocketDirectory)
};

// Names the running kernel (its boot id), and the network namespace of this process.
std::string this_machine();
std::string this_name_space();

// Makes the directory. False if that fails, or if anyone but its owner can access it.
bool make_meeting_place(const std::string& directory);
// A number that no other node has, from 1 on. 0 is the root, whose starter assigns it. Nothing if the directory is not
// writable.
std::optional<std::uint32_t> take_number(const std::string& directory);

// How many numbers are used.
std::uint32_t taken_numbers(const std::string& directory);

// The file is complete when it appears. False if it cannot be written.
bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address);
// Nothing if the node has not written it yet, or it is not a file of this user.
std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node);

// The unix socket of a node: a file in the directory in which nodes meet. Only the owner of the run can look into that
// directory, so no other user can connect. (Anyone can connect to a name in the abstract namespace. If a process has no
// descriptor left for such a connection, libzmq ends it.)
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
