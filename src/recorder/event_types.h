// Numbers of the names that the program registers through the API. They outlive a segment: the segment of a forked
// child, or of a run that begins later, gets all definitions again.
#pragma once

#include <cstdint>

#include "format/definition.h"

namespace tare::recorder {

struct EventType {
  format::EventClass event_class;
  std::uint8_t parameters;
  format::ParameterType parameter_types[10];
};

// The number of a name in a class, assigned when it is first registered. 0 if there are too many names.
std::uint32_t register_event_type(const EventType& type, const char* name, const char* unit) noexcept;

bool any_event_type() noexcept;
// The number of a phase of that name; 0 if none has been registered.
std::uint32_t find_phase(const char* name) noexcept;

// The name of a phase, by its number (PhaseEntry::type); "" if there is none. It stays where it is.
const char* name_of_phase(std::uint32_t number) noexcept;

// Writes the definitions of all names to the segment.
void define_event_types() noexcept;

// For a forked child: no thread holds a lock.
void release_event_types() noexcept;

}  // namespace tare::recorder
