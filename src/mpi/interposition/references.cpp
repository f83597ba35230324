#include "mpi/interposition/references.h"

#include <cstddef>

#include "format/functions.h"
#include "processor/linking.h"

namespace tare::mpi {
namespace {

using processor::refers_to_symbol;

// The tables of an object that hold its relocations.
struct Object {
  std::uintptr_t bias = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  } eager, lazy;
};

// On some systems, the loader relocates addresses in a dynamic section.
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

struct Visitor {
  void (*visit)(const Reference& reference, void* context);
  void* context;
};

void visit_table(const dl_phdr_info& info, const Object& object, const Object::Table& table,
                 const Visitor& visitor) noexcept {
  for (std::size_t i = 0; table.first != nullptr && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& entry = table.first[i];
    if (!refers_to_symbol(static_cast<unsigned>(ELF64_R_TYPE(entry.r_info)))) continue;
    const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(entry.r_info)];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    const char* name = object.names + symbol.st_name;
    const unsigned number = format::function_number(name[0] == 'P' ? name + 1 : name);
    if (number == 0) continue;
    const bool is_weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
    visitor.visit({info, number, is_weak, object.bias + entry.r_offset}, visitor.context);
  }
}

int visit_object(dl_phdr_info* info, std::size_t, void* context) noexcept {
  const Object object = describe(*info);
  if (object.symbols == nullptr || object.names == nullptr) return 0;
  const auto& visitor = *static_cast<const Visitor*>(context);
  visit_table(*info, object, object.eager, visitor);
  visit_table(*info, object, object.lazy, visitor);
  return 0;
}

}  // namespace

void visit_references(void (*visit)(const Reference& reference, void* context), void* context) noexcept {
  Visitor visitor{visit, context};
  dl_iterate_phdr(visit_object, &visitor);
}

bool contains(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= start && address < start + segment.p_memsz) return true;
  }
  return false;
}

}  // namespace tare::mpi
