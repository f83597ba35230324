// How nodes find one another: each leaves its address as a file in a directory that all of them see, such as one of
// the run's directory on a shared file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tare::tared {

struct NodeAddress {
  std::string machine;     // which kernel it runs on: nodes of one have one clock
  std::string name_space;  // its network namespace: nodes of one see one another's unix sockets
  std::string local;       // of a unix socket
  std::string network;     // of a TCP socket, or empty
};

// Names the running kernel (its boot id), and the network namespace of this process.
std::string this_machine();
std::string this_name_space();

// The file is whole when it appears. False if it cannot be written.
bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address);
// Nothing if the node has not left it yet, or it is not a file of this user.
std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node);

}  // namespace tare::tared
