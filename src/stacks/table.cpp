#include "stacks/table.h"

#include "recorder/system.h"

namespace tare::stacks {
namespace {

constinit recorder::SpinLock lock;

format::SampledStack* slots_of(format::StackSamples& table) noexcept {
  return reinterpret_cast<format::SampledStack*>(&table + 1);
}

// A search is given up rather than made long: the table is nearly full then.
constexpr std::uint32_t max_steps = 256;

std::uint32_t first_slot(const Place& place) noexcept {
  const std::uint64_t what = place.site | std::uint64_t{place.thread} << 32;
  return static_cast<std::uint32_t>(((what + static_cast<std::uint64_t>(place.in)) * 0x9e3779b97f4a7c15U) >> 40);
}

}  // namespace

void add_sample(format::StackSamples& table, const Place& place, std::uint64_t ns) noexcept {
  const recorder::Locked locked(lock);
  ++table.samples;
  format::SampledStack* slots = slots_of(table);
  const std::uint32_t first = first_slot(place);
  for (std::uint32_t step = 0; step < max_steps; ++step) {
    format::SampledStack& slot = slots[(first + step) % format::stack_slots];
    if (slot.samples == 0) {
      slot.site = place.site;
      slot.thread = place.thread;
      slot.in = place.in;
      slot.ns = 0;
    } else if (slot.site != place.site || slot.thread != place.thread || slot.in != place.in) {
      continue;
    }
    slot.ns += ns;
    __atomic_store_n(&slot.samples, slot.samples + 1, __ATOMIC_RELEASE);
    return;
  }
  ++table.lost;
}

void release_table() noexcept { lock.reset(); }

}  // namespace tare::stacks
