#include "mpi/interposition/dlsym.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/library.h"
#include "processor/linking.h"
#include "recorder/system.h"

namespace {
using Dlsym = void*(void*, const char*);
constexpr unsigned entries =
    2 * (tare::format::mpi_function_count + 1);  // of MPI_X at twice its number, then of PMPI_X
constexpr unsigned libraries = 4;                // the most MPI libraries with asked stubs; see the stubs
}  // namespace

extern "C" {
// Called by the stubs.
[[gnu::visibility("hidden")]] Dlsym tare_dlsym_first;
[[gnu::visibility("hidden")]] void tare_asked_first();
[[gnu::visibility("hidden")]] extern const char tare_asked_stubs[];
[[gnu::visibility("hidden")]] extern const std::int32_t tare_stub_places[];
// Read by the stubs.
[[gnu::visibility("hidden")]] constinit Dlsym* tare_dlsym_below = &tare_dlsym_first;
[[gnu::visibility("hidden")]] constinit std::atomic<void*> tare_asked[libraries * entries] = {};
[[gnu::visibility("hidden")]] Dlsym* tare_find_dlsym() noexcept;
[[gnu::visibility("hidden")]] void* tare_find(void* handle, const char* name, const void* caller) noexcept;
[[gnu::visibility("hidden")]] void* tare_resolve_asked(unsigned slot, const void* caller) noexcept;
}

namespace tare::mpi {
namespace {

// The libraries, and the functions of each for which an asked stub was returned.
constinit std::atomic<void*> asked_libraries[libraries] = {};
constinit std::atomic<void*> asked_for[libraries * entries] = {};

void* stub(unsigned entry) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(tare_stub_places);
  return reinterpret_cast<void*>(start + static_cast<std::uintptr_t>(std::intptr_t{tare_stub_places[entry]}));
}

void* asked_stub(unsigned slot) noexcept {
  return const_cast<char*>(tare_asked_stubs) + std::size_t{processor::asked_stub_bytes} * slot;
}

// Functions that programs may call before MPI_Init, before they have decided for an MPI library.
bool tells_the_library(unsigned number) noexcept {
  switch (static_cast<Function>(number)) {
    case Function::MPI_Abi_get_fortran_booleans:
    case Function::MPI_Abi_get_fortran_info:
    case Function::MPI_Abi_get_info:
    case Function::MPI_Abi_get_version:
    case Function::MPI_Finalized:
    case Function::MPI_Get_library_version:
    case Function::MPI_Get_version:
    case Function::MPI_Initialized:
      return true;
    default:
      return false;
  }
}

// The stub whose calls reach `address`; nullptr if there is none. If there are two, the one of this name.
void* stub_before(unsigned entry, const void* address) noexcept {
  for (const unsigned each : {entry, entry ^ 1U})
    if (is_dispatched_to(each / 2, (each & 1U) != 0, address)) return stub(each);
  return nullptr;
}

// The same before dispatch: a library in the program's search order will be the one that is measured.
void* future_stub_before(unsigned entry, const char* name, const void* address) noexcept {
  if (real_dlsym(RTLD_NEXT, name) == address) return stub(entry);
  char other[128];
  std::snprintf(other, sizeof other, "%s%s", (entry & 1U) != 0 ? "" : "P", format::function_name(entry / 2));
  return real_dlsym(RTLD_NEXT, other) == address ? stub(entry ^ 1U) : nullptr;
}

// The number of the library that has the function; `libraries` if there are too many libraries, or none has it.
unsigned asked_library(const void* address) noexcept {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !is_of_library(address)) return libraries;
  for (unsigned i = 0; i < libraries; ++i) {
    void* known = nullptr;
    if (asked_libraries[i].compare_exchange_strong(known, info.dli_fbase) || known == info.dli_fbase) return i;
  }
  return libraries;
}

// For a function of a library that is not in the search order, so that only its openers know it.
void* ask(unsigned entry, void* address) noexcept {
  if (real_dlsym(RTLD_NEXT, "PMPI_Init") != nullptr) return nullptr;
  const unsigned library = asked_library(address);
  if (library == libraries) return nullptr;
  const unsigned slot = library * entries + entry;
  asked_for[slot] = address;  // an earlier value belongs to a library that was closed
  void* next = tells_the_library(entry / 2) ? address : reinterpret_cast<void*>(&tare_asked_first);
  tare_asked[slot].store(next, std::memory_order_release);
  return asked_stub(slot);
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

void* real_dlsym(void* handle, const char* name) noexcept { return tare_dlsym_below(handle, name); }

const void* passed_on() noexcept { return first_passed_on; }

bool is_stub(unsigned function, std::uintptr_t address) noexcept {
  const auto* found = reinterpret_cast<const void*>(address);
  return found == stub(2 * function) || found == stub(2 * function + 1);
}

void settle_asked() noexcept {
  for (unsigned slot = 0; slot < libraries * entries; ++slot) {
    void* address = asked_for[slot];
    if (address == nullptr) continue;
    void* found = stub_before(slot % entries, address);
    tare_asked[slot].store(found == nullptr ? address : found, std::memory_order_release);
  }
}

}  // namespace tare::mpi

Dlsym* tare_find_dlsym() noexcept {
  // With versions, because another tool may export dlsym, too. Since glibc 2.34 it is in the C library itself.
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  return tare_dlsym_below = reinterpret_cast<Dlsym*>(found);
}

void* tare_find(void* handle, const char* name, const void* caller) noexcept {
  using namespace tare::mpi;
  const bool profiling = name[0] == 'P';
  const unsigned number = tare::format::function_number(profiling ? name + 1 : name);
  if (number == 0 || !recording()) return nullptr;
  const tare::recorder::ErrnoGuard guard;
  void* address = find(handle, name, caller);
  return address == nullptr ? nullptr : replacement(2 * number + (profiling ? 1 : 0), name, address);
}

void* tare_resolve_asked(unsigned slot, const void* caller) noexcept {
  using namespace tare::mpi;
  const tare::recorder::ErrnoGuard guard;
  void* address = asked_for[slot];
  attach_once(caller, address);
  settle_asked();  // a stub may have been returned at the same time
  void* next = tare_asked[slot];
  return next == reinterpret_cast<void*>(&tare_asked_first) ? address : next;
}
