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

// Makes the directory, for its owner alone. False if it is not there then.
bool make_meeting_place(const std::string& directory);
// A number that no other node has, from 1 on: 0 is the root, which is named by who starts it. Nothing if the directory
// cannot be written to.
std::optional<std::uint32_t> take_number(const std::string& directory);

// How many numbers are taken.
std::uint32_t taken_numbers(const std::string& directory);

// The file is whole when it appears. False if it cannot be written.
bool publish(const std::string& directory, std::uint32_t node, const NodeAddress& address);
// Nothing if the node has not left it yet, or it is not a file of this user.
std::optional<NodeAddress> find_node(const std::string& directory, std::uint32_t node);

}  // namespace tare::tared
