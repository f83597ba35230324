// The phases of a thread. Time and calls count for the innermost one. Their entries lie in the thread's block of the
// segment (format/phase_table.h).
#pragma once

#include <cstdint>

#include "format/location_block.h"

namespace tare::recorder {

// Only the owning thread uses it. No function allocates or throws.
struct Phases {
  static constexpr unsigned max_nested = 16;

  format::LocationHeader* shared;
  format::PhaseEntry* current;     // that the thread is in
  std::uint8_t depth;              // how many there are in `outer`
  std::uint8_t outer[max_nested];  // numbers of those that `current` lies in, the innermost last

  // To be called once for a block, which is zeroed: the thread is outside of all phases.
  void begin() noexcept;

  // A phase, by its event type, begins within the one that the thread is in; or ends. Ending one that lies further
  // out leaves those within it as they are; ending one that has not begun does nothing.
  void enter(std::uint32_t type) noexcept;
  void leave(std::uint32_t type) noexcept;
  // A thread ends.
  void leave_all() noexcept;

  // Whether the thread is in a phase of the type, or in one within it.
  bool is_in(std::uint32_t type) const noexcept;
  bool is_outside() const noexcept { return shared->summary.phase == format::outside_phases; }

 private:
  std::uint32_t number_of(std::uint32_t type) noexcept;
  void switch_to(std::uint32_t number) noexcept;
};

}  // namespace tare::recorder
