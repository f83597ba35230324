// The address of this machine that a node binds.
#pragma once

#include <string>

namespace tare::tared {

// For an address, the name of an interface, or a network such as 10.1.0.0/16: the machine's own address in that
// network. Other texts are returned unchanged. Empty if this machine is not in the network.
std::string address_to_bind(const std::string& text);

// The addresses of this machine as text: "lo (127.0.0.1), eth0 (10.1.0.5)".
std::string all_addresses();

// Whether only processes of this machine can connect to it.
bool is_loopback(const std::string& address);

}  // namespace tare::tared
