#include "timing/below.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>

namespace tare::timing {
namespace {

struct First {
  std::uintptr_t bases[2];
  int found;
};

// Finds the first object that contains one of the two addresses. dl_iterate_phdr visits the objects in the order in
// which symbols are looked up.
int visit(dl_phdr_info* info, std::size_t, void* context) noexcept {
  auto* first = static_cast<First*>(context);
  for (int i = 0; i < 2; ++i) {
    for (int segment = 0; segment < info->dlpi_phnum; ++segment) {
      const ElfW(Phdr)& header = info->dlpi_phdr[segment];
      const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
      if (header.p_type == PT_LOAD && first->bases[i] >= start && first->bases[i] < start + header.p_memsz) {
        first->found = i;
        return 1;
      }
    }
  }
  return 0;
}

void* earlier(void* left, void* right) noexcept {
  First first{{reinterpret_cast<std::uintptr_t>(left), reinterpret_cast<std::uintptr_t>(right)}, 0};
  dl_iterate_phdr(visit, &first);
  return first.found == 0 ? left : right;
}

// Searches all loaded objects. A library that Python or a plugin loader opened with RTLD_LOCAL is not in the search
// order of the program.
void* in_any_object(const char* name) noexcept {
  void* self = dlopen(nullptr, RTLD_LAZY);
  link_map* object = nullptr;
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &object) != 0) return nullptr;
  for (; object != nullptr; object = object->l_next) {
    if (object->l_name[0] == '\0') continue;
    void* handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* address = dlsym(handle, name);
    dlclose(handle);
    if (address != nullptr) return address;
  }
  return nullptr;
}

}  // namespace

void* below(const char* name) noexcept {
  // dlsym does not find the symbols of libtare.so, because their version is not the default one.
  void* versioned = dlvsym(RTLD_NEXT, name, "TARE_1");
  void* plain = dlsym(RTLD_NEXT, name);
  if (versioned != nullptr && plain != nullptr && versioned != plain) return earlier(versioned, plain);
  if (versioned != nullptr) return versioned;
  return plain != nullptr ? plain : in_any_object(name);
}

}  // namespace tare::timing
