#include "openmp/gomp_next.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "recorder/errno_guard.h"
#include "recorder/system.h"

namespace tare::openmp {
namespace {

link_map* object_of(const void* address) noexcept {
  Dl_info info{};
  void* object = nullptr;
  if (dladdr1(address, &info, &object, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map*>(object);
}

// Looks a name up in an object and its dependencies. The program itself cannot be opened by name.
void* find_below(const link_map* object, const char* name) noexcept {
  if (object == nullptr || object->l_name[0] == '\0') return nullptr;
  void* handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

// The runtimes of LLVM and Intel, which call tools, also have the functions of GNU's.
bool has_ompt(const void* function) noexcept {
  const link_map* object = object_of(function);
  const void* fork_call = find_below(object, "__kmpc_fork_call");
  return fork_call != nullptr && object_of(fork_call) == object;
}

// If the function jumps to the runtime as its last step, the caller seems to be in another object: then any runtime.
void* find_anywhere(const char* name) noexcept {
  const link_map* own = object_of(reinterpret_cast<const void*>(&find_anywhere));
  link_map* object = nullptr;
  void* self = dlopen(nullptr, RTLD_LAZY);
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &object) != 0) return nullptr;
  for (; object != nullptr; object = object->l_next)
    if (object != own)
      if (void* found = find_below(object, name); found != nullptr && object_of(found) != own) return found;
  return nullptr;
}

// What was found for callers whose runtime is not in the search order. Filled once, never changed.
struct Known {
  std::atomic<std::uintptr_t> key;  // of the call; written last
  NextFunction next;
};
constexpr unsigned known_count = 1024;
constexpr unsigned most_steps = 16;
constinit Known known[known_count] = {};
constinit recorder::SpinLock known_lock;

std::uintptr_t key_of(const char* name, const void* caller) noexcept {
  const auto mixed = reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15U;
  return (reinterpret_cast<std::uintptr_t>(caller) ^ mixed) | 1;
}

// Where a key may lie: at one of a few places.
Known& place_of(std::uintptr_t key, unsigned step) noexcept {
  return known[((key * 0xc2b2ae3d27d4eb4fU >> 54) + step) % known_count];
}

const Known* look_up(std::uintptr_t key) noexcept {
  for (unsigned step = 0; step < most_steps; ++step) {
    const Known& each = place_of(key, step);
    if (each.key.load(std::memory_order_acquire) == key) return &each;
  }
  return nullptr;
}

void remember(std::uintptr_t key, const NextFunction& next) noexcept {
  known_lock.lock();
  for (unsigned step = 0; step < most_steps; ++step) {
    Known& each = place_of(key, step);
    if (each.key.load(std::memory_order_relaxed) != 0) continue;
    each.next = next;
    each.key.store(key, std::memory_order_release);
    break;
  }
  known_lock.unlock();
}

}  // namespace

NextFunction Next::find(const void* caller) noexcept {
  const recorder::ErrnoGuard guard;
  const std::uintptr_t key = key_of(name_, caller);
  if (const Known* found = look_up(key)) return found->next;
  if (void* address = dlsym(RTLD_NEXT, name_)) {
    has_ompt_ = has_ompt(address);
    address_.store(address, std::memory_order_release);
    return {address, has_ompt_};
  }
  void* address = find_below(object_of(caller), name_);
  if (address == nullptr) address = find_anywhere(name_);
  if (address == nullptr) {
    std::fprintf(stderr, "tare: undefined symbol: %s\n", name_);
    std::abort();
  }
  const NextFunction next{address, has_ompt(address)};
  remember(key, next);
  return next;
}

void release_next() noexcept { known_lock.reset(); }

}  // namespace tare::openmp
