#include "mpi/referee/tools.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "mpi/interposition/loaded_objects.h"
#include "mpi/interposition/real_dlsym.h"

namespace tare::mpi::referee {
namespace {

struct Range {
  std::uintptr_t base, begin, end;
};

int visit(dl_phdr_info* object, std::size_t, void* context) noexcept {
  auto* range = static_cast<Range*>(context);
  if (object->dlpi_addr != range->base) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD)
      range->end = std::max<std::uintptr_t>(range->end, range->base + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

const void* object_of(const void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

}  // namespace

void Tools::find(const char* paths) noexcept {
  char path[PATH_MAX];
  while (*paths != '\0' && count_ < max_tools) {
    const std::size_t length = std::strcspn(paths, ":");
    if (length >= sizeof path) return;
    std::memcpy(path, paths, length);
    path[length] = '\0';
    paths += length + (paths[length] == ':' ? 1 : 0);
    Tool& tool = tools_[count_++];
    tool.handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    link_map* object = nullptr;
    if (tool.handle == nullptr || dlinfo(tool.handle, RTLD_DI_LINKMAP, &object) != 0) continue;
    Range range{object->l_addr, object->l_addr, object->l_addr};
    dl_iterate_phdr(visit, &range);
    tool.begin = range.begin;
    tool.end = range.end;
  }
}

void* Tools::function(unsigned tool, const char* name, const Library& library) const noexcept {
  void* const handle = tools_[tool].handle;
  if (handle == nullptr) return nullptr;
  // dlsym does not find the symbols of libtare.so, because their version is not the default one.
  void* found = dlvsym(handle, name, "TARE_1");
  if (found != nullptr && object_of(found) == object_of(reinterpret_cast<const void*>(&object_of))) found = nullptr;
  if (found == nullptr) found = real_dlsym(handle, name);
  if (found == nullptr) return nullptr;
  // The libraries that the tool needs are searched, too: among them MPI's, and other tools.
  const void* object = object_of(found);
  if (object == object_of(real_dlsym(library.handle, name))) return nullptr;
  return found;
}

void* Tools::below(const char* name) const noexcept {
  const void* own = object_of(reinterpret_cast<const void*>(&object_of));
  return first_of_loaded([&](const link_map& object) -> void* {
    void* found = symbol_of(object, name, real_dlsym);
    return found != nullptr && object_of(found) != own && !contain(found) ? found : nullptr;
  });
}

bool Tools::contain(const void* address) const noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(tools_, tools_ + count_,
                     [=](const Tool& tool) { return place >= tool.begin && place < tool.end; });
}

}  // namespace tare::mpi::referee
