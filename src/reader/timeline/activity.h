// What a location does in a call: the classes that a timeline tells apart.
#pragma once

#include <array>
#include <cstdint>

namespace tare::reader {

// In the order of CLASSES in python/tare/page/call_sites.py; flushes are tare's own.
enum class Activity : std::uint8_t { send, receive, exchange, wait, collective, one_sided, file, other, flush };
inline constexpr std::size_t activities = 9;
inline constexpr std::array<const char*, activities> activity_names = {
    "send", "receive", "exchange", "wait", "collective", "one-sided", "file", "other", "flush"};

// Of a function's number in the run (FunctionNames).
Activity activity_of(std::uint16_t function);

}  // namespace tare::reader
