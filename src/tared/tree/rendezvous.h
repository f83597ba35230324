// How nodes find one another: each writes its address to a file in a directory that all can see, such as one in the run
// directory on a shared file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tare::tared {

struct NodeAddress {
  std::string machine;     // the kernel that it runs on: nodes of one kernel share a clock
  std::string name_space;  // its network namespace: within one, nodes can use unix sockets
  std::string network;     // of a TCP socket; empty: it has a unix socket (local_socket.h)
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

}  // namespace tare::tared
