// Whether a node of the tree can bind what `listen=` says, found out by doing it.
#pragma once

#include <string>

namespace tare::tared {

// What is wrong with the text (listen.h) on this machine: a sentence with what there is instead. Empty: nothing.
std::string why_not_bound(const std::string& text);

}  // namespace tare::tared
