#include "mpi/interposition/program_code.h"

#include <link.h>

#include "mpi/interposition/library.h"
#include "mpi/interposition/tool.h"
#include "stack/own_code.h"

namespace tare::mpi {
namespace {

// Where the loader has put an object.
struct Image {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address) const noexcept { return address - begin < end - begin; }
};

constinit Image executable{}, first_caller{};

Image image_of(const dl_phdr_info& object) noexcept {
  Image image{UINTPTR_MAX, 0};
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (begin < image.begin) image.begin = begin;
    if (begin + part.p_memsz > image.end) image.end = begin + part.p_memsz;
  }
  return image.end == 0 ? Image{} : image;
}

struct Search {
  std::uintptr_t address;
  bool is_first = true;  // the loader begins with the executable
  Image first{}, found{};
};

int look_at(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  const Image image = image_of(*object);
  if (search.is_first) search.first = image;
  search.is_first = false;
  if (image.holds(search.address)) search.found = image;
  return 0;
}

bool has_tool_in(const Image& image) noexcept {
  for (unsigned i = 1; i <= format::mpi_function_count; ++i)
    if (has_tool(i) && image.holds(reinterpret_cast<std::uintptr_t>(tare_tools[i]))) return true;
  return false;
}

}  // namespace

void note_program(const void* caller) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(caller)};
  dl_iterate_phdr(look_at, &search);
  executable = search.first;
  if (!stack::is_own_code(search.address) && !is_of_library(caller) && !has_tool_in(search.found))
    first_caller = search.found;
}

bool is_of_program(std::uintptr_t address) noexcept { return executable.holds(address) || first_caller.holds(address); }

}  // namespace tare::mpi
