// Tests whether a node of the tree can bind the address of `listen=`.
#pragma once

#include <string>

namespace tare::tared {

// An error message for the text (listen.h) on this machine, with the addresses that there are; empty: none.
std::string why_not_bound(const std::string& text);

}  // namespace tare::tared
