// Numbers and definitions of call paths and of their frames. Safe in a signal handler whose thread is not in tare's own
// code.
#pragma once

#include <cstdint>
#include <span>

#include "stack/python_frame.h"

namespace tare::stack {

// Equal paths, with equal format::SiteFlags, have equal keys. Never 0.
std::uint64_t key_of(std::span<const std::uint64_t> frames, std::uint16_t flags) noexcept;

// What defines a frame of a path that has not been defined before: its number, and its index in the path.
using DefineFrame = void(const void* context, std::uint32_t number, unsigned index) noexcept;

// The number of a path, 1 to 128 frames, innermost first: return addresses, or positions in Python code. Defines a new
// path and its new frames. 0 if there is no more room.
std::uint32_t number_of(std::span<const std::uint64_t> frames, std::uint16_t flags, DefineFrame* define,
                        const void* context) noexcept;

void define_native(std::uint32_t number, std::uint64_t address) noexcept;
void define_python(std::uint32_t number, const PythonFrame& frame) noexcept;

// For a forked child, which has to define all anew.
void reset_site_numbers() noexcept;

}  // namespace tare::stack
