// Goes through all loaded objects. A library that Python or a plugin loader opened with RTLD_LOCAL is not in the search
// order of the program.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace tare::mpi {

// What `visit` gives for the first object, in the order of loading, for which it is not null. Calls the dynamic loader.
template <class Visit>
void* first_of_loaded(const Visit& visit) noexcept {
  void* self = dlopen(nullptr, RTLD_LAZY);
  link_map* object = nullptr;
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &object) != 0) return nullptr;
  for (; object != nullptr; object = object->l_next)
    if (void* found = visit(*object)) return found;
  return nullptr;
}

// A symbol of a loaded object, or of what it needs; nullptr if there is none. The program itself, which has no name, is
// left out. `look_up`: as dlsym.
template <class LookUp>
void* symbol_of(const link_map& object, const char* name, const LookUp& look_up) noexcept {
  void* handle = object.l_name[0] == '\0' ? nullptr : dlopen(object.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = look_up(handle, name);
  dlclose(handle);
  return found;
}

}  // namespace tare::mpi
