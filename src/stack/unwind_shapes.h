// Functions with many shapes of frames, compiled once for each set of flags (CMakeLists.txt). Each makes a callback as
// its last step.
#pragma once

namespace tare::stack::shapes {

using Back = void (*)();

struct Shape {
  const char* name;
  void (*call)(Back);
};
inline constexpr unsigned count = 11;

#define TARE_SHAPES_OF(flags) \
  namespace flags {           \
  extern const Shape all[];   \
  }
TARE_SHAPES_OF(unoptimised)
TARE_SHAPES_OF(optimised)
TARE_SHAPES_OF(frame_pointers)
TARE_SHAPES_OF(vectorised)
TARE_SHAPES_OF(small)
#undef TARE_SHAPES_OF

}  // namespace tare::stack::shapes
