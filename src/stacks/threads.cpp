// pthread_create, which this library exports ahead of the C library's: a thread is sampled from its begin on, also if
// it never calls anything that is measured.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "recorder/here.h"
#include "recorder/process.h"
#include "recorder/sources.h"
#include "stack/own_code.h"
#include "stacks/source.h"

namespace tare::stacks {
namespace {

using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
constinit Create* next = nullptr;
constinit bool is_on = false;

// What a thread begins with, from its creation until it runs.
struct Begin {
  std::atomic<bool> in_use;
  void* (*function)(void*);
  void* argument;
};
constinit Begin begins[256] = {};

Begin* free_begin() noexcept {
  for (Begin& begin : begins)
    if (!begin.in_use.exchange(true, std::memory_order_acquire)) return &begin;
  return nullptr;
}

// Not noexcept: the end of a thread may unwind it.
void* start(void* argument) {
  auto& begin = *static_cast<Begin*>(argument);
  auto* const function = begin.function;
  void* const own_argument = begin.argument;
  begin.in_use.store(false, std::memory_order_release);
  recorder::here();
  return function(own_argument);
}

// Whether pthread_create of ThreadSanitizer comes before this one, as it does where clang has linked its runtime into
// the program. Then start() would run before the runtime knows the thread, in which its functions may not be called
// yet.
bool is_below_thread_sanitizer() noexcept {
  return dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr &&
         !stack::is_own_code(reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "pthread_create")));
}

// A process in which nothing is measured is sampled, too.
[[gnu::constructor]] void begin_process() noexcept {
  next = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!recorder::run_given() || !recorder::is_on(source) || recorder::is_launcher()) return;
  is_on = !is_below_thread_sanitizer();
  recorder::here();
}

}  // namespace
}  // namespace tare::stacks

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*function)(void*), void* argument) noexcept {
  using namespace tare::stacks;
  if (next == nullptr) begin_process();
  Begin* begin = is_on ? free_begin() : nullptr;
  if (begin == nullptr) return next(thread, attributes, function, argument);
  begin->function = function;
  begin->argument = argument;
  const int error = next(thread, attributes, start, begin);
  if (error != 0) begin->in_use.store(false, std::memory_order_release);
  return error;
}
