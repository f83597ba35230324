#include "stack/site.h"

#include <atomic>
#include <cstring>

#include "recorder/every_call.h"
#include "recorder/system.h"
#include "stack/call_path.h"
#include "stack/modules.h"
#include "stack/python_frame.h"
#include "stack/site_numbers.h"

namespace tare::stack {

constinit BindingSpan binding_span{};
TARE_EVERY_CALL constinit std::uintptr_t stack_matters = ~std::uintptr_t{0};

namespace {

Binding binding_at(std::uintptr_t address) noexcept {
  const std::uint32_t number = module_of(address);
  return number == unknown_module ? Binding::none : module(number).binding;
}

// The site of a path that the thread had not remembered. `path`: where it is remembered now; nullptr if it is not.
Site site_at(Thread& thread, std::uint32_t number, PathMemo::Path* path) noexcept {
  if (path == nullptr) return {number, &thread.any_rows};
  thread.paths.follow(thread.last_path, *path);
  return {number, &path->rows};
}

struct PythonPath {
  const PythonFrame* frames;
  const unsigned* chosen;
};
void define_frame_of_python(const void* path, std::uint32_t number, unsigned index) noexcept {
  const auto& of = *static_cast<const PythonPath*>(path);
  define_python(number, of.frames[of.chosen[index]]);
}
void define_frame_of_native(const void* path, std::uint32_t number, unsigned index) noexcept {
  define_native(number, static_cast<const CallPath*>(path)->frames[index]);
}

// The site of a call from mpi4py, or from the interpreter. Its path is remembered by the positions of all its Python
// frames. The number is 0 if the frames cannot be read.
Site find_python_site(Thread& thread) noexcept {
  PythonFrame all_frames[format::max_frames];
  const unsigned depth = python_stack(all_frames);
  if (depth == 0) return {0, nullptr};
  CallPath all{};
  for (unsigned i = 0; i < depth; ++i) all.add(all_frames[i].position);
  PathMemo::Builder read;
  read.caller = {key_of({all.frames, all.count}, all.flags), 1, 0};  // 1 is a stack pointer that no native call has
  read.base_mask = 0;
  read.count = 0;
  read.overflow = false;
  if (PathMemo::Path* known = thread.paths.find(read.caller)) return {known->number, &known->rows};
  unsigned chosen[format::max_frames];
  const CallPath path = choose_python_frames(all_frames, depth, chosen);
  const PythonPath defined{all_frames, chosen};
  const std::uint32_t number = number_of({path.frames, path.count}, path.flags, define_frame_of_python, &defined);
  return site_at(thread, number, thread.paths.add(thread.last_path, read, number));
}

Site find_native_site(Thread& thread, const Frame& caller, bool in_binding) noexcept {
  CallPath path;
  PathMemo::Builder read;
  walk(caller, thread.stack, stack_frames, path, read);
  const std::uint32_t number = number_of({path.frames, path.count}, path.flags, define_frame_of_native, &path);
  read.caller.stack &= stack_matters;
  const bool is_known_again = stack_matters != 0 || !in_binding;
  return site_at(thread, number, is_known_again ? thread.paths.add(thread.last_path, read, number) : nullptr);
}

// Finds the site of a path that this thread does not remember.
[[gnu::cold, gnu::noinline]] Site find_site(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack,
                                            std::uintptr_t base) noexcept {
  const recorder::ErrnoGuard guard;
  const Frame caller{return_address, stack, base};
  const Binding binding =
      caller.return_address - binding_span.low < binding_span.bytes ? binding_at(caller.return_address) : Binding::none;
  const auto place = recipe_of(caller.return_address).place;
  if (binding == Binding::python || place == Recipe::interpreter) {
    const Site site = find_python_site(thread);
    if (site.number != 0) return site;
  }
  const bool in_binding = binding != Binding::none || place == Recipe::native_binding;
  return find_native_site(thread, caller, in_binding);
}

// Finds the site of a path that is not expected.
[[gnu::noinline]] Site look_for_site(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack,
                                     std::uintptr_t base) noexcept {
  PathMemo::Path* known = thread.paths.find({return_address, stack & stack_matters, base});
  if (known == nullptr) [[unlikely]]
    return find_site(thread, return_address, stack, base);
  thread.paths.follow(thread.last_path, *known);
  if (stack_matters == 0) thread.addresses.add(return_address, known->number);
  return {known->number, &known->rows};
}

// Finds the site of a path that is not the one expected first.
[[gnu::noinline]] Site also_expected_site(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack,
                                          std::uintptr_t base) noexcept {
  PathMemo::Path* known =
      thread.paths.find_also_expected(thread.last_path, {return_address, stack & stack_matters, base});
  if (known == nullptr) return look_for_site(thread, return_address, stack, base);
  return {known->number, &known->rows};
}

}  // namespace

// In three steps that call one another at their ends, so that the usual ones save no registers.
Site site_of(Thread& thread, std::uintptr_t return_address, std::uintptr_t stack, std::uintptr_t base) noexcept {
  if (stack_matters == 0)
    if (AddressMemo::Entry* known = thread.addresses.find(return_address)) [[likely]]
      return {known->number, &known->rows};
  PathMemo::Path* known = thread.paths.find_expected(thread.last_path, {return_address, stack & stack_matters, base});
  if (known == nullptr) [[unlikely]]
    return also_expected_site(thread, return_address, stack, base);
  return {known->number, &known->rows};
}

bool binding_calls_itself(Caller kind, std::uintptr_t address) noexcept {
  const Binding binding = binding_at(address);
  return binding == Binding::cxx || (binding == Binding::fortran && kind == Caller::converts);
}

void notice_modules() noexcept {
  read_modules();
  std::uintptr_t low = UINTPTR_MAX;
  std::uintptr_t high = 0;
  for (std::uint32_t i = 0; i < module_count(); ++i) {
    const Module& m = module(i);
    if (m.binding == Binding::none || m.binding == Binding::threads) continue;
    if (m.low < low) low = m.low;
    if (m.high > high) high = m.high;
  }
  if (high == 0) return;
  // A reader between the stores sees an empty span, and never the low end of one span with the length of another.
  binding_span.bytes = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  binding_span.low = low;
  binding_span.bytes = high - low;
}

void choose_paths() noexcept {
  choose_stack_frames();
  stack_matters = stack_frames > 1 ? ~std::uintptr_t{0} : 0;
}

void begin_paths(Thread& thread) noexcept {
  thread.paths.clear(thread.last_path);
  thread.addresses.clear();
  thread.stack = stack_of_thread();
}

void reset_sites() noexcept {
  reset_site_numbers();
  release_recipes();
  reset_modules();
}

}  // namespace tare::stack
