#include "mpi/interposition/dlsym.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>

#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/library.h"
#include "mpi/interposition/real_dlsym.h"
#include "mpi/interposition/stubs.h"
#include "recorder/system.h"

extern "C" {
// Called by the stub of dlsym.
[[gnu::visibility("hidden")]] void* tare_find(void* handle, const char* name, const void* caller) noexcept;
}

namespace tare::mpi {
namespace {

// The same before dispatch: a library in the program's search order will be the one that is measured.
void* future_stub_before(unsigned entry, const char* name, const void* address) noexcept {
  if (real_dlsym(RTLD_NEXT, name) == address) return stub(entry);
  char other[128];
  std::snprintf(other, sizeof other, "%s%s", (entry & 1U) != 0 ? "" : "P", format::function_name(entry / 2));
  return real_dlsym(RTLD_NEXT, other) == address ? stub(entry ^ 1U) : nullptr;
}

constinit std::atomic<const void*> first_passed_on{nullptr};

void* replacement(unsigned entry, const char* name, void* address) noexcept {
  if (is_attached()) return stub_before(entry, address);
  void* found = future_stub_before(entry, name, address);
  if (found == nullptr) found = ask(entry, address);
  const void* none = nullptr;
  if (found == nullptr) first_passed_on.compare_exchange_strong(none, address);
  return found;
}

link_map* object_of(const void* address) noexcept {
  Dl_info info{};
  void* object = nullptr;
  if (address == nullptr || dladdr1(address, &info, &object, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map*>(object);
}

// Looks a name up in an object and its dependencies. The program itself cannot be opened by name.
void* find_in(const link_map* object, const char* name) noexcept {
  if (object == nullptr || object->l_name[0] == '\0') return nullptr;
  void* handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* address = real_dlsym(handle, name);
  dlclose(handle);
  return address;
}

// RTLD_DEFAULT: the program's search order, then the caller's, if the caller was opened. If the caller prefers its own
// (RTLD_DEEPBIND), only the C library knows.
void* find_default(const char* name, const void* caller) noexcept {
  void* everywhere = real_dlsym(RTLD_DEFAULT, name);
  void* with_caller = find_in(object_of(caller), name);
  if (everywhere == nullptr) return with_caller;
  return with_caller == nullptr || with_caller == everywhere ? everywhere : nullptr;
}

bool comes_before(const link_map* object, const void* other) noexcept {
  while (object != nullptr && object != other) object = object->l_next;
  return object != nullptr;
}

// RTLD_NEXT, for callers before this library in the search order, if no object in between has the name: the next one
// after this library.
void* find_next(const char* name, const void* caller) noexcept {
  const link_map* object = object_of(caller);
  const void* own = own_object();
  if (object == own || !comes_before(object, own)) return nullptr;
  for (object = object->l_next; object != own; object = object->l_next)
    if (object_of(find_in(object, name)) == object) return nullptr;
  return real_dlsym(RTLD_NEXT, name);
}

void* find(void* handle, const char* name, const void* caller) noexcept {
  if (handle == RTLD_DEFAULT) return find_default(name, caller);
  if (handle == RTLD_NEXT) return find_next(name, caller);
  return real_dlsym(handle, name);
}

}  // namespace

const void* passed_on() noexcept { return first_passed_on; }

}  // namespace tare::mpi

void* tare_find(void* handle, const char* name, const void* caller) noexcept {
  using namespace tare::mpi;
  const bool profiling = name[0] == 'P';
  const unsigned number = tare::format::function_number(profiling ? name + 1 : name);
  if (number == 0 || !recording()) return nullptr;
  const tare::recorder::ErrnoGuard guard;
  void* address = find(handle, name, caller);
  return address == nullptr ? nullptr : replacement(2 * number + (profiling ? 1 : 0), name, address);
}
