#include "stack/unwind.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "processor/registers.h"

extern "C" void* __libc_stack_end;  // of the main thread; set by the dynamic loader

namespace tare::stack {
namespace {

std::uintptr_t offset_by(std::uintptr_t address, std::int32_t offset) noexcept {
  return address + static_cast<std::uintptr_t>(std::intptr_t{offset});
}

// Reads a word that must lie in [low, high).
bool read(std::uintptr_t address, std::uintptr_t low, std::uintptr_t high, Word& out) noexcept {
  if (address < low || address > high - sizeof(void*) || address % sizeof(void*) != 0) return false;
  out = {address, *reinterpret_cast<const std::uintptr_t*>(address)};
  return true;
}

// The stack of the main thread grows into space that the kernel keeps free below it: as much as the stack limit when
// the program started, and at least 128 MiB. No more than that may be taken for stack.
Stack main_stack() noexcept {
  constexpr std::uintptr_t at_least = std::uintptr_t{64} << 20;
  constexpr std::uintptr_t at_most = std::uintptr_t{1} << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) limit.rlim_cur = at_least;
  const auto bytes = std::clamp<std::uintptr_t>(limit.rlim_cur, at_least, at_most);
  const auto high = reinterpret_cast<std::uintptr_t>(__libc_stack_end) & ~(sizeof(void*) - 1);
  return {high - bytes, high};
}

}  // namespace

Stack stack_of_thread() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (syscall(SYS_gettid) == getpid()) {
    const Stack main = main_stack();
    if (main.holds(here)) return main;  // else a thread has forked this process
  }
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<std::uintptr_t>(low);
  return known ? Stack{at, (at + bytes) & ~(sizeof(void*) - 1)} : Stack{};
}

bool find_end(const Recipe& recipe, const Stack& stack, const Frame& frame, Step& out, std::uintptr_t& cfa) noexcept {
  if ((recipe.flags & Recipe::usable) == 0) return false;
  out = {};
  out.needs_base = (recipe.flags & (Recipe::from_base | Recipe::base_at_base)) != 0;
  cfa = offset_by((recipe.flags & Recipe::from_base) != 0 ? frame.base : frame.stack, recipe.cfa_offset);
  if ((recipe.flags & Recipe::loaded) != 0) {
    if (!read(cfa, frame.stack, stack.high, out.cfa)) return false;
    cfa = out.cfa.value;
  }
  return cfa > frame.stack;  // stacks grow down, so anything else means a wrong table
}

bool step(const Recipe& recipe, const Stack& stack, Frame& frame, Step& out) noexcept {
  const std::uintptr_t low = frame.stack;  // a frame lies between its own stack pointer and its caller's
  std::uintptr_t cfa = 0;
  if ((recipe.flags & Recipe::return_in_link) != 0) return false;
  if (!find_end(recipe, stack, frame, out, cfa) || cfa > stack.high) return false;
  if (!read(offset_by(cfa, recipe.return_offset), low, stack.high, out.return_address)) return false;
  if ((recipe.flags & Recipe::base_saved) != 0) {
    const std::uintptr_t from = (recipe.flags & Recipe::base_at_base) != 0 ? frame.base : cfa;
    if (!read(offset_by(from, recipe.base_offset), low, stack.high, out.base)) return false;
    frame.base = out.base.value;
  }
  frame.return_address = processor::without_signature(out.return_address.value);
  frame.stack = cfa;
  return true;
}

}  // namespace tare::stack
