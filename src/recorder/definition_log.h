// The definition log of this process, which lies in its segment (format/definition.h).
#pragma once

#include <cstddef>

#include "format/definition.h"

namespace tare::recorder {

// Appends an entry to the definition log: `head`, which begins with a DefinitionHead, and up to two strings. An entry
// that does not fit is counted as lost. Thread-safe.
struct Text {
  const char* data;
  std::size_t bytes;
};
void define(void* head, std::size_t head_bytes, Text first = {}, Text second = {}) noexcept;

// The same for what a program may make without end, such as communicators: it takes half of the log at most, so that
// the call sites that come later find room. False if there is no room; that is not counted.
bool define_in_half(void* head, std::size_t head_bytes, Text first = {}, Text second = {}) noexcept;

// Whether half of the log has room for so many bytes more.
bool has_room_in_half(std::size_t bytes) noexcept;

// For a forked child: no thread holds a lock.
void release_definition_log() noexcept;

}  // namespace tare::recorder
