#include "stack/unwind_shapes.h"

#include <alloca.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#ifdef __clang__  // which clones no functions
#  define SHAPE [[gnu::noinline]] void
#else
#  define SHAPE [[gnu::noinline, gnu::noclone]] void
#endif
#define NOT_LAST __asm__ volatile("" ::: "memory")

namespace tare::stack::shapes::TARE_SHAPES {
namespace {

volatile int seven = 7;

SHAPE plain(Back back) {
  back();
  NOT_LAST;
}

SHAPE grown(Back back) {
  auto* bytes = static_cast<char*>(alloca(static_cast<unsigned>(seven) * 100U));
  std::memset(bytes, seven, 100);
  __asm__ volatile("" ::"r"(bytes) : "memory");
  back();
  NOT_LAST;
}

// The stack pointer is aligned, and its old value is stored. An expression in the table says where.
SHAPE aligned(Back back) {
  alignas(64) char bytes[256];
  std::memset(bytes, seven, sizeof bytes);
  __asm__ volatile("" ::"r"(bytes) : "memory");
  back();
  NOT_LAST;
}

SHAPE aligned_and_grown(Back back) {
  alignas(32) double values[16] = {static_cast<double>(seven)};
  auto* bytes = static_cast<char*>(alloca(static_cast<unsigned>(seven) * 10U));
  __asm__ volatile("" ::"r"(bytes), "r"(values) : "memory");
  back();
  NOT_LAST;
}

SHAPE large(Back back) {
  char bytes[20000];
  bytes[static_cast<unsigned>(seven)] = 1;
  __asm__ volatile("" ::"r"(bytes) : "memory");
  back();
  NOT_LAST;
}

// More arguments than registers, and values in all registers that a call preserves.
SHAPE many(Back back, int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  const int sums[] = {a + b, b + c, c + d, d + e, e + f, f + g, g + h, h + i};
  back();
  __asm__ volatile("" ::"r"(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7] + a * b * c));
}
SHAPE arguments(Back back) {
  many(back, seven, 2, seven, 4, seven, 6, seven, 8, seven);
  NOT_LAST;
}

SHAPE deeper(Back back, int levels) {
  if (levels == 0)
    back();
  else
    deeper(back, levels - 1);
  NOT_LAST;
}
SHAPE deep(Back back) {
  deeper(back, seven * 20);
  NOT_LAST;
}

SHAPE jumps(std::jmp_buf& to) { std::longjmp(to, seven); }
SHAPE after_a_jump(Back back) {
  std::jmp_buf here;
  if (setjmp(here) == 0) jumps(here);
  back();
  NOT_LAST;
}

SHAPE throws() { throw std::runtime_error("thrown"); }
SHAPE in_a_handler(Back back) {
  try {
    throws();
  } catch (const std::runtime_error&) {
    back();
  }
  NOT_LAST;
}

Back called_back;
int compare(const void* a, const void* b) {
  if (const Back back = std::exchange(called_back, nullptr)) back();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
SHAPE called_by_the_c_library(Back back) {
  int values[] = {3, seven, 1};
  called_back = back;
  std::qsort(values, 3, sizeof values[0], compare);
  NOT_LAST;
}

SHAPE in_a_thread(Back back) {
  std::thread([=] { plain(back); }).join();
  NOT_LAST;
}

}  // namespace

extern const Shape all[];
const Shape all[count] = {
    {"plain", plain},
    {"grown", grown},
    {"aligned", aligned},
    {"aligned and grown", aligned_and_grown},
    {"large", large},
    {"arguments", arguments},
    {"deep", deep},
    {"after a jump", after_a_jump},
    {"in a handler", in_a_handler},
    {"called by the C library", called_by_the_c_library},
    {"in a thread", in_a_thread},
};

}  // namespace tare::stack::shapes::TARE_SHAPES
