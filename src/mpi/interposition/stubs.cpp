#include "mpi/interposition/stubs.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>

#include "mpi/interposition/library.h"
#include "mpi/interposition/real_dlsym.h"
#include "mpi/interposition/tool.h"
#include "processor/linking.h"

namespace {
constexpr unsigned entries = 2 * (tare::format::mpi_function_count + 1);
constexpr unsigned libraries = 4;  // the most MPI libraries with asked stubs; see the stubs
}  // namespace

extern "C" {
// Called by the stubs.
[[gnu::visibility("hidden")]] void tare_asked_first();
[[gnu::visibility("hidden")]] extern const char tare_asked_stubs[];
[[gnu::visibility("hidden")]] extern const std::int32_t tare_stub_places[];
// Read by the stubs.
[[gnu::visibility("hidden")]] constinit std::atomic<void*> tare_asked[libraries * entries] = {};
}

namespace tare::mpi {
namespace {

// The libraries, and the functions of each for which an asked stub was returned.
constinit std::atomic<void*> asked_libraries[libraries] = {};
constinit std::atomic<void*> asked_for[libraries * entries] = {};

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

}  // namespace

void* stub(unsigned entry) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(tare_stub_places);
  return reinterpret_cast<void*>(start + static_cast<std::uintptr_t>(std::intptr_t{tare_stub_places[entry]}));
}

bool is_stub(unsigned function, std::uintptr_t address) noexcept {
  const auto* found = reinterpret_cast<const void*>(address);
  return found == stub(2 * function) || found == stub(2 * function + 1);
}

void* stub_before(unsigned entry, const void* address) noexcept {
  for (const unsigned each : {entry, entry ^ 1U})
    if (is_dispatched_to(each / 2, (each & 1U) != 0, address)) return stub(each);
  return nullptr;
}

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

void settle_asked() noexcept {
  for (unsigned slot = 0; slot < libraries * entries; ++slot) {
    void* address = asked_for[slot];
    if (address == nullptr) continue;
    void* found = stub_before(slot % entries, address);
    tare_asked[slot].store(found == nullptr ? address : found, std::memory_order_release);
  }
}

void* asked_function(unsigned slot) noexcept { return asked_for[slot]; }

void* asked_destination(unsigned slot) noexcept {
  void* next = tare_asked[slot];
  return next == reinterpret_cast<void*>(&tare_asked_first) ? nullptr : next;
}

}  // namespace tare::mpi
