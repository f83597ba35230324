// Whether a node of the monitoring tree can bind an address of this machine.
#pragma once

#include <string>

namespace tare::tared {

// Tests whether a node of the tree can bind the address of `listen=`.
// An error message for the text on this machine, with the addresses that there are; empty: none.
std::string why_not_bound(const std::string& text);

}  // namespace tare::tared
