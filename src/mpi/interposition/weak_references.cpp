#include "mpi/interposition/weak_references.h"

#include <link.h>
#include <sys/mman.h>

#include <cstdint>

#include "mpi/interposition/references.h"

namespace tare::mpi {
namespace {

// The part of the object that the loader makes read-only after relocation.
bool is_read_only(const dl_phdr_info& object, std::uintptr_t place) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO && place >= start && place < start + segment.p_memsz) return true;
  }
  return false;
}

void set_null(const Reference& reference) noexcept {
  constexpr std::uintptr_t page = 4096;
  const bool read_only = is_read_only(reference.object, reference.place);
  void* start = reinterpret_cast<void*>(reference.place & ~(page - 1));
  if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
  *reinterpret_cast<std::uintptr_t*>(reference.place) = 0;
  if (read_only) mprotect(start, page, PROT_READ);
}

}  // namespace

void null_weak_references(bool (*is_missing)(unsigned function)) noexcept {
  visit_references(
      [](const Reference& reference, void* predicate) {
        if (reference.is_weak && reinterpret_cast<bool (*)(unsigned)>(predicate)(reference.function))
          set_null(reference);
      },
      reinterpret_cast<void*>(is_missing));
}

}  // namespace tare::mpi
