// Which address of this machine a node is to bind.
#pragma once

#include <string>

namespace tare::tared {

// Of an address, the name of an interface, or a network such as 10.1.0.0/16: on each machine the address that it has in
// there. As it is, if it is no network; empty if this machine is not in it.
std::string address_to_bind(const std::string& text);

// Of this machine, for people: "lo (127.0.0.1), eth0 (10.1.0.5)".
std::string all_addresses();

// Whether only processes of this machine can connect to it.
bool is_loopback(const std::string& address);

}  // namespace tare::tared
