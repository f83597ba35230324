#include "mpi/interposition/bypass.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "format/function_meaning.h"
#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/tool.h"

extern "C" {
// By the number of the function: the address of its instructions; and its wrapper, for calls that are to be measured.
[[gnu::visibility("hidden")]] extern void* const tare_bypass[];
[[gnu::visibility("hidden")]] constinit void* tare_wrappers[tare::format::mpi_function_count + 1] = {};
}

namespace tare::mpi {
namespace {

using format::CallClass;
using format::CallForm;

static_assert(offsetof(recorder::Location, counts_only) == TARE_COUNTS_ONLY);
static_assert(offsetof(recorder::Location, counted_calls) == TARE_COUNTED_CALLS);
static_assert(offsetof(recorder::Location, until_check) == TARE_UNTIL_CHECK);
static_assert(offsetof(recorder::Location, events) + offsetof(recorder::EventBuffer, shared) == TARE_BLOCK);
static_assert(offsetof(format::LocationHeader, lookups) == TARE_LOOKUPS);

// Whether calls of a function may bypass its wrapper: later calls need none of its roles (Role::is_needed), except
// those of requests if some are open. Polls are counted on their own. Blocking collectives may end spells, unless they
// have a root. Only a wrapper makes calls that the library makes itself part of the call (inside.h).
enum class Bypass : std::uint8_t { never, without_requests, always };
Bypass bypass_of(const format::FunctionMeaning& meaning) noexcept {
  if (meaning.is_poll || meaning.form == CallForm::persistent || meaning.waits == format::Waits::arrival ||
      meaning.calls_others)
    return Bypass::never;
  switch (meaning.kind) {
    case CallClass::send:
    case CallClass::receive:
    case CallClass::exchange:
      return meaning.form == CallForm::blocking ? Bypass::always : Bypass::without_requests;
    case CallClass::start:
    case CallClass::completion:
      return Bypass::without_requests;
    case CallClass::collective:
      return meaning.form == CallForm::blocking && meaning.is_rooted ? Bypass::always : Bypass::never;
    default:
      return Bypass::never;
  }
}

// The numbers of the functions whose calls may bypass their wrappers: `always`, then those without requests.
struct Candidates {
  std::uint16_t numbers[format::mpi_function_count] = {};
  unsigned always = 0, count = 0;

  // Whether they are known. False while another thread looks for them.
  bool are_known() noexcept {
    unsigned state = state_.load(std::memory_order_acquire);
    if (state == known) return true;
    if (state != unknown || !state_.compare_exchange_strong(state, being_found)) return false;
    add(Bypass::always);
    always = count;
    add(Bypass::without_requests);
    state_.store(known, std::memory_order_release);
    return true;
  }

 private:
  enum : unsigned { unknown, being_found, known };
  std::atomic<unsigned> state_{unknown};
  void add(Bypass kind) noexcept {
    for (unsigned i = 1; i <= format::mpi_function_count; ++i)
      if (bypass_of(format::meaning_of(i)) == kind) numbers[count++] = static_cast<std::uint16_t>(i);
  }
};

constinit Candidates candidates;

// The number of candidates that bypass their wrappers now.
constinit std::atomic<unsigned> bypassing{0};

// Other threads read it at the same time.
void replace(void*& slot, void* from, void* to) noexcept {
  const std::atomic_ref<void*> word(slot);
  if (word.load(std::memory_order_relaxed) == from) word.store(to, std::memory_order_release);
}

}  // namespace

void change_depth(const recorder::Location& location) noexcept {
  if (!candidates.are_known()) return;
  const unsigned wanted = !location.counts_only ? 0 : location.requests_open ? candidates.always : candidates.count;
  // Spells that only count follow one another, and looking at the slots takes as long as some calls.
  const unsigned present = bypassing.exchange(wanted, std::memory_order_relaxed);
  for (unsigned at = std::min(present, wanted); at < std::max(present, wanted); ++at) {
    const unsigned i = candidates.numbers[at];
    if (has_tool(i)) continue;
    void* const bypass = tare_bypass[i];
    void*& wrapper = tare_wrappers[i];
    if (wrapper == nullptr) wrapper = tare_slots[i];
    void* const from = at < wanted ? wrapper : bypass;
    void* const to = at < wanted ? bypass : wrapper;
    replace(tare_slots[i], from, to);
    replace(tare_profiling_slots[i], from, to);
  }
}

}  // namespace tare::mpi
