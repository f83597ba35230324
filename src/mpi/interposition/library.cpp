#include "mpi/interposition/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "mpi/interposition/loaded_objects.h"
#include "mpi/interposition/real_dlsym.h"

namespace tare::mpi {
namespace {

using format::Abi;

const char* soname(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// mpi/abi/abi.h says how the ABIs are recognised, and why in this order.
Abi recognise(const Library& library) noexcept {
  if (std::strncmp(soname(library.path), "libmpi_abi.so", 13) == 0) return Abi::standard;
  if (real_dlsym(library.handle, "ompi_mpi_comm_world") != nullptr) return Abi::openmpi;
  if (real_dlsym(library.handle, "MPI_UNWEIGHTED") != nullptr) return Abi::mpich;
  return Abi::none;
}

Library open_library(void* address) noexcept {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  Library library{dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), info.dli_fname, Abi::none};
  if (library.handle != nullptr) library.abi = recognise(library);
  return library;
}

// Looks up the first function of an MPI library in an object and its dependencies. The program itself cannot be opened
// by name, but it is in its own search order.
void* init_below(const char* path) noexcept {
  if (path == nullptr || path[0] == '\0') return nullptr;
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* address = real_dlsym(handle, "PMPI_Init");
  dlclose(handle);
  return address;
}

// The same for exactly the object that contains an address.
void* init_beside(const void* address) noexcept {
  Dl_info info{};
  Dl_info of_init{};
  if (address == nullptr || dladdr(address, &info) == 0) return nullptr;
  void* init = init_below(info.dli_fname);
  if (init == nullptr || dladdr(init, &of_init) == 0) return nullptr;
  return of_init.dli_fbase == info.dli_fbase ? init : nullptr;
}

Library find_among_all() noexcept {
  Library found{};
  void* self = dlopen(nullptr, RTLD_LAZY);
  first_of_loaded([&](const link_map& object) -> void* {
    if (object.l_name[0] == '\0' || &object == own_object()) return nullptr;
    void* address = init_below(object.l_name);
    const Library library = open_library(address);
    if (library.handle == nullptr || address == real_dlsym(self, "PMPI_Init")) return nullptr;
    found = library;
    return address;
  });
  return found;
}

}  // namespace

const void* own_object() noexcept {
  Dl_info info{};
  void* object = nullptr;
  const auto* here = reinterpret_cast<const void*>(&own_object);
  return dladdr1(here, &info, &object, RTLD_DL_LINKMAP) == 0 ? nullptr : object;
}

// Normally, MPI comes after this library in the program's search order. A library that Python or a plugin loader opened
// locally is not there. Then it is one that the caller was linked with, or the first of all loaded objects.
Library find_library(const void* caller, const void* asked) noexcept {
  const Library next = open_library(real_dlsym(RTLD_NEXT, "PMPI_Init"));
  if (next.handle != nullptr) return next;
  if (const Library library = library_of(asked); library.handle != nullptr) return library;
  Dl_info info{};
  if (caller != nullptr && dladdr(caller, &info) != 0) {
    const Library library = open_library(init_below(info.dli_fname));
    if (library.handle != nullptr) return library;
  }
  return find_among_all();
}

Library library_of(const void* address) noexcept { return open_library(init_beside(address)); }

bool is_of_library(const void* address) noexcept { return init_beside(address) != nullptr; }

}  // namespace tare::mpi
