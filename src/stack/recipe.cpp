#include "stack/recipe.h"

#include <atomic>

#include "recorder/system.h"
#include "stack/frame_rules.h"
#include "stack/modules.h"

// The compiler's own unwinder finds the table entry. It is linked in with the runtime.
struct dwarf_eh_bases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);

namespace tare::stack {
namespace {

Recipe recipe_from(const Rules& rules) noexcept {
  Recipe recipe{};
  if (rules.return_address.kind == Rule::undefined) {
    recipe.flags = Recipe::outermost;
    return recipe;
  }
  const bool known_register = rules.cfa_register == stack_register || rules.cfa_register == base_register;
  const bool base_known = rules.base.kind != Rule::unknown;
  const bool is_in_link = rules.return_address.kind == Rule::same;
  if (!rules.cfa_known || !known_register || !base_known || (rules.return_address.kind != Rule::at_cfa && !is_in_link))
    return recipe;
  recipe.cfa_offset = static_cast<std::int32_t>(rules.cfa_offset);
  recipe.return_offset = static_cast<std::int32_t>(rules.return_address.offset);
  recipe.base_offset = static_cast<std::int32_t>(rules.base.offset);
  unsigned flags = Recipe::usable;
  if (is_in_link) flags |= Recipe::return_in_link;
  if (rules.cfa_register == base_register) flags |= Recipe::from_base;
  if (rules.cfa_loaded) flags |= Recipe::loaded;
  if (rules.base.kind == Rule::at_cfa) flags |= Recipe::base_saved;
  if (rules.base.kind == Rule::at_base) flags |= Recipe::base_saved | Recipe::base_at_base;
  recipe.flags = static_cast<std::uint8_t>(flags);
  return recipe;
}

Recipe::Place place_of(std::uintptr_t return_address) noexcept {
  const std::uint32_t number = module_of(return_address);
  if (number == unknown_module) return Recipe::elsewhere;
  switch (module(number).binding) {
    case Binding::fortran:
    case Binding::cxx:
    case Binding::threads:
      return Recipe::native_binding;
    case Binding::python:
      return Recipe::python_binding;
    case Binding::none:
      break;
  }
  switch (module(number).kind) {
    case ModuleKind::program:
      return Recipe::program;
    case ModuleKind::system:
      return Recipe::system;
    case ModuleKind::interpreter:
      return Recipe::interpreter;
    case ModuleKind::elsewhere:
      break;
  }
  return Recipe::elsewhere;
}

// Remembered recipes. An address has one of a few places. An entry is valid if its address is the same before and after
// it is copied. Writers invalidate it first (a sequence lock of one word).
struct Entry {
  std::atomic<std::uintptr_t> address;
  std::atomic<std::uint64_t> offsets;  // cfa_offset, return_offset
  std::atomic<std::uint64_t> rest;     // base_offset, place, flags
};
constexpr unsigned ways = 4;
constexpr unsigned sets = 1024;
constinit Entry entries[sets][ways] = {};
constinit unsigned next_way = 0;
constinit recorder::SpinLock write_lock;

std::uint64_t pack(std::int32_t high, std::uint32_t low) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | low;
}

bool copy(Entry& entry, std::uintptr_t address, Recipe& out) noexcept {
  if (entry.address.load(std::memory_order_acquire) != address) return false;
  const std::uint64_t offsets = entry.offsets.load(std::memory_order_relaxed);
  const std::uint64_t rest = entry.rest.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.address.load(std::memory_order_relaxed) != address) return false;
  out = {static_cast<std::int32_t>(offsets >> 32), static_cast<std::int32_t>(offsets),
         static_cast<std::int32_t>(rest >> 32), static_cast<std::uint8_t>(rest),
         static_cast<Recipe::Place>(rest >> 8 & 0xff)};
  return true;
}

void remember(Entry* set, std::uintptr_t address, const Recipe& recipe) noexcept {
  write_lock.lock();
  Entry& entry = set[next_way++ % ways];
  entry.address.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  entry.offsets.store(pack(recipe.cfa_offset, static_cast<std::uint32_t>(recipe.return_offset)),
                      std::memory_order_relaxed);
  entry.rest.store(pack(recipe.base_offset, static_cast<std::uint32_t>(recipe.place) << 8 | recipe.flags),
                   std::memory_order_relaxed);
  entry.address.store(address, std::memory_order_release);
  write_lock.unlock();
}

}  // namespace

Recipe work_out(std::uintptr_t return_address) noexcept {
  dwarf_eh_bases bases{};
  // Looks up the byte before: a call may be the last instruction of its function.
  const auto pc = return_address - 1;
  const auto* fde = static_cast<const unsigned char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases));
  Recipe recipe{};
  Rules rules;
  if (fde != nullptr && read_rules(fde, pc - reinterpret_cast<std::uintptr_t>(bases.function), rules))
    recipe = recipe_from(rules);
  recipe.place = place_of(return_address);
  return recipe;
}

Recipe recipe_of(std::uintptr_t return_address) noexcept {
  Entry* set = entries[(return_address ^ (return_address >> 10) ^ (return_address >> 20)) % sets];
  Recipe recipe;
  for (unsigned way = 0; way < ways; ++way)
    if (copy(set[way], return_address, recipe)) return recipe;
  recipe = work_out(return_address);
  if (!loader_may_be_busy || known_module(return_address) != nullptr) remember(set, return_address, recipe);
  return recipe;
}

void release_recipes() noexcept { write_lock.reset(); }

}  // namespace tare::stack
