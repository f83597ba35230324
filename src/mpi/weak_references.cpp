#include "mpi/weak_references.h"

#include <link.h>
#include <sys/mman.h>

#include <cstdint>

#include "format/functions.h"

namespace tare::mpi {
namespace {

#if defined(__x86_64__)
constexpr bool refers_to_symbol(unsigned type) {
  return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
constexpr bool refers_to_symbol(unsigned type) {
  return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_ABS64;
}
#endif

// The tables of an object that relocations need.
struct Object {
  std::uintptr_t bias = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  } eager, lazy;
  std::uintptr_t read_only = 0;  // PT_GNU_RELRO
  std::size_t read_only_bytes = 0;
};

// Addresses in a dynamic section are relocated by the loader on some systems and not on others.
template <class T>
const T* relocated(std::uintptr_t bias, std::uintptr_t address) noexcept {
  return reinterpret_cast<const T*>(address < bias ? address + bias : address);
}

Object describe(const dl_phdr_info& info) noexcept {
  Object object;
  object.bias = info.dlpi_addr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + segment.p_vaddr);
    if (segment.p_type == PT_GNU_RELRO) {
      object.read_only = info.dlpi_addr + segment.p_vaddr;
      object.read_only_bytes = segment.p_memsz;
    }
  }
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const std::uintptr_t value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        object.symbols = relocated<ElfW(Sym)>(object.bias, value);
        break;
      case DT_STRTAB:
        object.names = relocated<char>(object.bias, value);
        break;
      case DT_RELA:
        object.eager.first = relocated<ElfW(Rela)>(object.bias, value);
        break;
      case DT_RELASZ:
        object.eager.bytes = value;
        break;
      case DT_JMPREL:
        object.lazy.first = relocated<ElfW(Rela)>(object.bias, value);
        break;
      case DT_PLTRELSZ:
        object.lazy.bytes = value;
        break;
      default:
        break;
    }
  }
  return object;
}

void set_null(const Object& object, std::uintptr_t place) noexcept {
  constexpr std::uintptr_t page = 4096;
  const bool read_only = place >= object.read_only && place < object.read_only + object.read_only_bytes;
  void* start = reinterpret_cast<void*>(place & ~(page - 1));
  if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
  *reinterpret_cast<std::uintptr_t*>(place) = 0;
  if (read_only) mprotect(start, page, PROT_READ);
}

void visit(const Object& object, const Object::Table& table, bool (*is_missing)(unsigned)) noexcept {
  for (std::size_t i = 0; table.first != nullptr && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& entry = table.first[i];
    if (!refers_to_symbol(static_cast<unsigned>(ELF64_R_TYPE(entry.r_info)))) continue;
    const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(entry.r_info)];
    if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_WEAK) continue;
    const char* name = object.names + symbol.st_name;
    const unsigned number = format::function_number(name[0] == 'P' ? name + 1 : name);
    if (number != 0 && is_missing(number)) set_null(object, object.bias + entry.r_offset);
  }
}

int visit_object(dl_phdr_info* info, std::size_t, void* is_missing) noexcept {
  const Object object = describe(*info);
  if (object.symbols == nullptr || object.names == nullptr) return 0;
  const auto predicate = reinterpret_cast<bool (*)(unsigned)>(is_missing);
  visit(object, object.eager, predicate);
  visit(object, object.lazy, predicate);
  return 0;
}

}  // namespace

void null_weak_references(bool (*is_missing)(unsigned function)) noexcept {
  dl_iterate_phdr(visit_object, reinterpret_cast<void*>(is_missing));
}

}  // namespace tare::mpi
