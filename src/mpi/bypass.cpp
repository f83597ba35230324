#include "mpi/bypass.h"

#include <atomic>
#include <cstddef>

#include "format/function_meaning.h"
#include "mpi/dispatch.h"
#include "mpi/library.h"

extern "C" {
// By the number of the function: the address of its instructions; and its wrapper, for calls that are to be measured.
[[gnu::visibility("hidden")]] extern void* const tare_bypass[];
[[gnu::visibility("hidden")]] constinit void* tare_wrappers[tare::format::function_count + 1] = {};
}

namespace tare::mpi {
namespace {

using format::CallClass;
using format::CallForm;

static_assert(offsetof(recorder::Location, counts_only) == TARE_COUNTS_ONLY);
static_assert(offsetof(recorder::Location, counted_calls) == TARE_COUNTED_CALLS);
static_assert(offsetof(recorder::Location, shared) == 0);
static_assert(offsetof(format::LocationHeader, lookups) == TARE_LOOKUPS);

// Whether calls of a function may bypass its wrapper: later calls need none of its roles (Role::is_needed), except
// those of requests if some are open. Polls are counted on their own. Blocking collectives may end spells, unless they
// have a root.
bool may_bypass(const format::FunctionMeaning& meaning, bool requests_open) noexcept {
  if (meaning.is_poll || meaning.form == CallForm::persistent || meaning.waits == format::Waits::arrival) return false;
  switch (meaning.kind) {
    case CallClass::send:
    case CallClass::receive:
    case CallClass::exchange:
      return meaning.form == CallForm::blocking || !requests_open;
    case CallClass::start:
    case CallClass::completion:
      return !requests_open;
    case CallClass::collective:
      return meaning.form == CallForm::blocking && meaning.is_rooted;
    default:
      return false;
  }
}

// Other threads read it at the same time.
void replace(void*& slot, void* from, void* to) noexcept {
  const std::atomic_ref<void*> word(slot);
  if (word.load(std::memory_order_relaxed) == from) word.store(to, std::memory_order_release);
}

}  // namespace

void begin_spell(const recorder::Location& location) noexcept {
  if (has_tool_below()) return;
  for (unsigned i = 1; i <= format::function_count; ++i) {
    void* const bypass = tare_bypass[i];
    void*& wrapper = tare_wrappers[i];
    if (location.counts_only && may_bypass(format::meaning_of(i), location.requests_open)) {
      if (wrapper == nullptr) wrapper = tare_slots[i];
      replace(tare_slots[i], wrapper, bypass);
      replace(tare_profiling_slots[i], wrapper, bypass);
    } else if (wrapper != nullptr) {
      replace(tare_slots[i], bypass, wrapper);
      replace(tare_profiling_slots[i], bypass, wrapper);
    }
  }
}

}  // namespace tare::mpi
