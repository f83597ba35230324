#include "stack/site.h"

#include <atomic>
#include <cstring>

#include "recorder/definition_log.h"
#include "recorder/every_call.h"
#include "recorder/system.h"
#include "stack/call_path.h"
#include "stack/modules.h"
#include "stack/numbers.h"
#include "stack/python_frame.h"

namespace tare::stack {

constinit BindingSpan binding_span{};
TARE_EVERY_CALL constinit std::uintptr_t stack_matters = ~std::uintptr_t{0};

namespace {

constinit Numbers<16384> sites;   // numbers of sites, by key of the path
constinit Numbers<16384> frames;  // numbers of frames, by return address or position in Python code

Binding binding_at(std::uintptr_t address) noexcept {
  const std::uint32_t number = module_of(address);
  return number == unknown_module ? Binding::none : module(number).binding;
}

void define_native(std::uint32_t number, std::uint64_t address) noexcept {
  format::FrameDefinition definition{};
  definition.head.kind = format::DefinitionKind::frame;
  definition.frame = number;
  const std::uint32_t owner = module_of(address);
  definition.module = owner == unknown_module ? format::no_module : owner;
  definition.address = owner == unknown_module ? address : address - module(owner).bias;
  if (owner != unknown_module) define_module(owner);
  recorder::define(&definition, sizeof definition);
}

void define_python(std::uint32_t number, const PythonFrame& frame) noexcept {
  const PythonSource source = source_of(frame);
  format::PythonFrameDefinition definition{};
  definition.head.kind = format::DefinitionKind::python_frame;
  definition.head.flags = in_program(frame) ? format::of_program : 0;
  definition.frame = number;
  definition.line = source.line;
  definition.file_bytes = static_cast<std::uint32_t>(source.file_bytes);
  definition.function_bytes = static_cast<std::uint32_t>(source.function_bytes);
  recorder::define(&definition, sizeof definition, {source.file, source.file_bytes},
                   {source.function, source.function_bytes});
}

// The number of a path. Defines a new path and its new frames. `define_frame(number, i)` defines frame i of the path.
template <class DefineFrame>
std::uint32_t number_of(const CallPath& path, DefineFrame define_frame) noexcept {
  bool is_new = false;
  const std::uint32_t number = sites.number_of(path.key(), is_new);
  if (!is_new) return number;
  std::uint32_t numbers[format::max_frames];
  for (unsigned i = 0; i < path.count; ++i) {
    numbers[i] = frames.number_of(path.frames[i], is_new);
    if (is_new) define_frame(numbers[i], i);
  }
  format::SiteDefinition definition{};
  definition.head.kind = format::DefinitionKind::site;
  definition.site = number;
  definition.head.flags = path.flags;
  definition.frames = path.count;
  recorder::define(&definition, sizeof definition,
                   {reinterpret_cast<const char*>(numbers), path.count * sizeof numbers[0]});
  return number;
}

// The site of a path that the thread had not remembered. `path`: where it is remembered now; nullptr if it is not.
Site site_at(Thread& thread, std::uint32_t number, PathMemo::Path* path) noexcept {
  if (path == nullptr) return {number, &thread.any_rows};
  thread.paths.follow(thread.last_path, *path);
  return {number, &path->rows};
}

// The site of a call from mpi4py. Its path is remembered by the positions of all its Python frames. The number is 0 if
// the frames cannot be read.
Site find_python_site(Thread& thread) noexcept {
  PythonFrame all_frames[max_python_frames];
  const unsigned depth = python_stack(all_frames);
  if (depth == 0) return {0, nullptr};
  CallPath all{};
  for (unsigned i = 0; i < depth; ++i) all.add(all_frames[i].position);
  PathMemo::Builder read;
  read.caller = {all.key(), 1, 0};  // 1 is a stack pointer that no native call has
  read.base_mask = 0;
  read.count = 0;
  read.overflow = false;
  if (PathMemo::Path* known = thread.paths.find(read.caller)) return {known->number, &known->rows};
  unsigned chosen[format::max_frames];
  const CallPath path = choose_python_frames(all_frames, depth, chosen);
  const std::uint32_t number =
      number_of(path, [&](std::uint32_t frame, unsigned i) { define_python(frame, all_frames[chosen[i]]); });
  return site_at(thread, number, thread.paths.add(thread.last_path, read, number));
}

Site find_native_site(Thread& thread, const Frame& caller, bool in_binding) noexcept {
  CallPath path;
  PathMemo::Builder read;
  walk(caller, thread.stack, stack_frames, path, read);
  const std::uint32_t number =
      number_of(path, [&](std::uint32_t frame, unsigned i) { define_native(frame, path.frames[i]); });
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
  if (binding == Binding::python) {
    const Site site = find_python_site(thread);
    if (site.number != 0) return site;
  }
  const bool in_binding = binding != Binding::none || recipe_of(caller.return_address).place == Recipe::native_binding;
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
  sites.clear();
  frames.clear();
  release_recipes();
  reset_modules();
}

}  // namespace tare::stack
