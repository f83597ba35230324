#include "openmp/constructs.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "format/communicator_number.h"
#include "format/function_meaning.h"
#include "recorder/commit_call.h"
#include "recorder/due.h"
#include "recorder/errno_guard.h"
#include "recorder/here.h"
#include "recorder/system.h"
#include "recorder/weighed_call.h"
#include "stack/own_code.h"
#include "stack/recipe.h"

namespace tare::openmp {

// Of one thread. Zero-initialised.
struct Constructs {
  static constexpr unsigned capacity = 64;
  static constexpr unsigned row_sets = 32;

  unsigned depth;     // of `open`
  unsigned overflow;  // constructs in the innermost of them for which there was no room
  Construct open[capacity];
  recorder::KnownRows rows[row_sets];  // by call site and function
};

namespace {

constinit thread_local Constructs* own_constructs [[gnu::tls_model("initial-exec")]] = nullptr;

// Regions by the number of their call site (stack/numbers.h) and the size of their team, which share a word. The number
// of a region is its place plus 1.
constinit std::atomic<std::uint64_t> regions[format::scope_family - 1] = {};
constinit std::atomic<bool> has_regions{false};
constinit std::uint16_t age = 1;

std::uint16_t number_of(std::uint32_t site, unsigned threads) noexcept {
  if (site == 0) return 0;
  constexpr unsigned places = std::size(regions), most_tries = 64;
  const std::uint64_t what = site | std::uint64_t{threads} << 32;
  auto place = static_cast<unsigned>((what * 0x9e3779b97f4a7c15U >> 32) % places);
  for (unsigned i = 0; i < most_tries; ++i, place = (place + 1) % places) {
    std::uint64_t found = regions[place].load(std::memory_order_relaxed);
    // Of two threads that meet the region at the same time, one gives it its number.
    if (found == 0 && regions[place].compare_exchange_strong(found, what)) {
      has_regions.store(true, std::memory_order_relaxed);
      found = what;
    }
    if (found == what) return static_cast<std::uint16_t>(place + 1);
  }
  return 0;
}

bool waits(Function function) noexcept {
  return format::meaning_of(static_cast<unsigned>(function)).waits != format::Waits::nobody;
}

// What only its own end may end: the constructs in which it runs are those of another task.
bool is_task(Function function) noexcept {
  return function == Function::omp_implicit_task || function == Function::omp_task ||
         function == Function::omp_undeferred_task;
}

// Shows readers and samples what the thread is in: its innermost construct, entered at this time; nullptr: none.
// The wait at the end of a region is shown as a barrier, but its time is in the record of the region.
void show(stack::Thread& thread, const Construct* construct, Function function, std::uint64_t enter) noexcept {
  format::CurrentConstruct& shown = thread.shared().others.construct;
  thread.waits_in_construct = false;
  shown.function.store(0, std::memory_order_relaxed);
  if (construct == nullptr) return;
  std::atomic_signal_fence(std::memory_order_release);
  shown.enter = enter;
  shown.site = construct->site;
  shown.function.store(static_cast<std::uint32_t>(function), std::memory_order_release);
  thread.waits_in_construct = construct->function == function && waits(function);
}

bool is_in_runtime(std::uintptr_t address) noexcept {
  return stack::recipe_of(address).place == stack::Recipe::native_binding;
}

// Whether a function of the program has called those of the runtime that lead to this frame; if not, they have begun
// the thread, as far as the stack shows.
bool is_called_by_program(stack::Frame frame, const stack::Stack& stack) noexcept {
  constexpr unsigned most_frames = 32;
  for (unsigned i = 0; i < most_frames; ++i) {
    if (!is_in_runtime(frame.return_address) && !stack::is_own_code(frame.return_address)) break;
    stack::Step read{};
    if (!stack.holds(frame.stack) || !stack::step(stack::recipe_of(frame.return_address), stack, frame, read))
      return false;
  }
  return stack::recipe_of(frame.return_address).place != stack::Recipe::system;
}

bool is_among(Function function, std::initializer_list<Function> functions) noexcept {
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

}  // namespace

bool Region::is_known() const noexcept { return age == openmp::age; }

Event::Event(const stack::Frame& caller, bool is_begin) noexcept : caller_(caller) {
  if (tare_inside != 0 && stack::is_inside(caller)) return;
  if (prepare(is_begin)) {
    tare_inside = recorder::not_to_be_left;
    constructs_ = own_constructs;
  }
}

Event Event::of_begin(const stack::Frame& caller) noexcept { return {caller, true}; }
Event Event::of_end(const stack::Frame& caller) noexcept { return {caller, false}; }

// Finds the location and the constructs of the thread.
bool Event::prepare(bool is_begin) noexcept {
  recorder::Location* location = recorder::this_location;
  if (location == nullptr || own_constructs == nullptr) [[unlikely]] {
    if (!is_begin) return false;
    const recorder::ErrnoGuard guard;
    const recorder::OwnCode own;
    location = recorder::here();
    if (location == nullptr) return false;
    if (own_constructs == nullptr) own_constructs = static_cast<Constructs*>(recorder::map_memory(sizeof(Constructs)));
    if (own_constructs == nullptr) return false;
  }
  thread_ = static_cast<stack::Thread*>(location);
  return location->mode != recorder::Mode::paused;
}

std::uint32_t Event::site(const void* code) noexcept {
  if (only_counts(region())) [[unlikely]]
    return 0;
  return site_of_task(code);
}

std::uint32_t Event::site_of_task(const void* code) noexcept {
  const std::uint32_t of_region = region().site;
  if (of_region != 0 && is_in_runtime(reinterpret_cast<std::uintptr_t>(code))) [[unlikely]]
    if (!is_called_by_program(caller_, thread_->stack)) return of_region;
  return stack::site_of(*thread_, caller_.return_address, caller_.stack, caller_.base).number;
}

// The frame of the function as it would be if the program had called it. Its return address lies where that of the call
// of the runtime does, if calls push it.
std::uint32_t Event::site_of_region(void (*function)(void*)) noexcept {
  stack::Frame frame = caller_;
  if (function != nullptr)
    frame = {reinterpret_cast<std::uintptr_t>(function) + 1, caller_.stack - sizeof(std::uintptr_t), caller_.base};
  return stack::site_of(*thread_, frame.return_address, frame.stack, frame.base).number;
}

Region Event::region() const noexcept {
  return constructs_->depth == 0 ? Region{} : constructs_->open[constructs_->depth - 1].region;
}

Region Event::new_region(std::uint32_t site) const noexcept {
  const Region around = region();
  return {site, 0, age, static_cast<std::uint16_t>(around.is_counted | only_counts(around))};
}

Region Event::new_task(std::uint32_t site) const noexcept {
  const Region around = region();
  return {site, around.number, age, around.is_counted};
}

bool Event::only_counts(Region region) const noexcept {
  return thread_->counts_only && (region.is_counted != 0 || !region.is_known());
}

void Event::begin_part(Region region, unsigned number, unsigned threads) noexcept {
  region.number = number_of(region.site, threads);
  if (number == 0)
    if (Construct* construct = innermost(Function::omp_parallel)) {
      construct->region.number = region.number;
      construct->arguments[0] = threads;
    }
  begin(Function::omp_implicit_task, region.site, region, {number, threads});
}

bool Event::is_waiting() const noexcept {
  if (constructs_->depth == 0) return true;  // in the barrier that ends its region
  const Function innermost = constructs_->open[constructs_->depth - 1].function;
  return innermost == Function::omp_parallel || waits(innermost);
}

Construct* Event::innermost(Function function) noexcept {
  for (unsigned i = constructs_->depth; i-- > 0;)
    if (constructs_->open[i].function == function) return &constructs_->open[i];
  return nullptr;
}

void Event::begin(Function function, std::uint32_t site, Region region,
                  std::initializer_list<std::uint64_t> arguments) noexcept {
  if (constructs_->depth == Constructs::capacity) {
    ++constructs_->overflow;
    return;
  }
  Construct& construct = constructs_->open[constructs_->depth++];
  construct.region = region;
  construct.site = site;
  construct.function = function;
  construct.argument_count = static_cast<std::uint8_t>(arguments.size());
  std::copy(arguments.begin(), arguments.end(), construct.arguments);
  construct.is_counted = only_counts(region);
  if (construct.is_counted) [[unlikely]] {
    recorder::count_outside(*thread_, static_cast<std::uint16_t>(function));
    show(*thread_, nullptr, Function::none, 0);
    return;
  }
  thread_->begin_weighing();
  construct.enter = recorder::now();
  show(*thread_, &construct, function, construct.enter);
}

void Event::end(std::initializer_list<Function> functions) noexcept {
  const std::uint64_t leave = recorder::now();
  if (constructs_->overflow != 0) {
    --constructs_->overflow;
    return;
  }
  const bool ends_task = is_task(*functions.begin()) || *functions.begin() == Function::omp_parallel;
  unsigned depth = constructs_->depth;
  while (depth != 0 && !is_among(constructs_->open[depth - 1].function, functions))
    if (is_task(constructs_->open[--depth].function) && !ends_task) return;
  if (depth == 0) return;
  constructs_->depth = depth - 1;
  const Construct& construct = constructs_->open[depth - 1];
  const Construct* around = depth == 1 ? nullptr : &constructs_->open[depth - 2];
  if (around != nullptr && around->is_counted) around = nullptr;
  // The thread that has encountered the region waits for the others, when its own part has ended.
  if (around != nullptr && around->function == Function::omp_parallel)
    show(*thread_, around, Function::omp_implicit_barrier, leave);
  else
    show(*thread_, around, around == nullptr ? Function::none : around->function,
         around == nullptr ? 0 : around->enter);
  if (construct.is_counted) return;
  const auto function = static_cast<std::uint16_t>(construct.function);
  recorder::KnownRows& rows = constructs_->rows[(construct.site + 7U * function) % Constructs::row_sets];
  const recorder::ErrnoGuard guard;
  const Region& region = construct.region;
  const std::uint32_t row_object = region.is_counted != 0 ? format::no_communicator : region.number;
  recorder::commit_call(*thread_,
                        {function, construct.site, region.number, row_object, construct.enter, leave, format::no_bytes,
                         std::span(construct.arguments, construct.argument_count)},
                        rows);
  recorder::end_weighing(*thread_, function, leave - construct.enter);
  if (leave >= thread_->due) [[unlikely]]
    recorder::do_what_is_due(*thread_, recorder::Piece::outside, thread_->shared().current.leave, leave);
}

void forget_thread(recorder::Location&) noexcept {
  if (own_constructs != nullptr) recorder::unmap_memory(own_constructs, sizeof(Constructs));
  own_constructs = nullptr;
}

void forget_parent() noexcept {
  age = age == Region::max_age ? 1 : age + 1;
  if (has_regions.exchange(false, std::memory_order_relaxed))
    for (auto& region : regions) region.store(0, std::memory_order_relaxed);
  if (own_constructs != nullptr) own_constructs->depth = own_constructs->overflow = 0;
}

}  // namespace tare::openmp
