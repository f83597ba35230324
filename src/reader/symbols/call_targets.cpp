#include "reader/symbols/call_targets.h"

#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "processor/call_instruction.h"

namespace tare::reader {
namespace {

// The name without the suffix that the compiler appends to a modified function: "solve.isra.0", "main.cold".
std::string as_written(std::string_view name) { return std::string(name.substr(0, name.find('.', 1))); }

// Whatever the locale: that of Turkish leaves 'I' as it is.
char lower_case(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

// Whether it is a function of the bindings of MPI, whose frames are left out of call paths, or a thunk that only passes
// a call on.
bool is_left_out(std::string_view name) {
  if (name.find("+0x") != std::string_view::npos) return false;  // has no name
  if (name.starts_with("__x86_indirect_thunk") || name.starts_with("_ZTh") || name.starts_with("_ZTv") ||
      name.starts_with("_ZTc") || name.starts_with("_ZN3MPI") || name.starts_with("_ZNK3MPI"))
    return true;
  while (name.starts_with('_')) name.remove_prefix(1);
  std::string lower(name.substr(0, 5));
  for (char& letter : lower) letter = lower_case(letter);
  return lower.starts_with("mpi") || lower.starts_with("pmpi") || lower.starts_with("ompi");
}

}  // namespace

CallTargets::CallTargets(Dwfl_Module* module, Dwarf_Addr bias) : module_(module), bias_(bias) {
  GElf_Addr elf_bias = 0;
  elf_ = dwfl_module_getelf(module, &elf_bias);
  if (elf_ == nullptr) return;
  read_functions();
  read_slots();
}

void CallTargets::read_functions() {
  const int count = dwfl_module_getsymtab(module_);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || *name == '\0' || symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
      continue;
    const std::uint64_t low = address - bias_;
    functions_.push_back({low, low + symbol.st_size, as_written(name), type == STT_GNU_IFUNC});
  }
  std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) { return a.low < b.low; });
}

void CallTargets::read_slots() {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA || header.sh_entsize == 0) continue;
    Elf_Scn* symbols = elf_getscn(elf_, header.sh_link);
    GElf_Shdr symbols_header;
    if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) continue;
    Elf_Data* entries = elf_getdata(section, nullptr);
    Elf_Data* table = elf_getdata(symbols, nullptr);
    if (entries == nullptr || table == nullptr) continue;
    const std::size_t count = header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Rela entry;
      GElf_Sym symbol;
      if (gelf_getrela(entries, static_cast<int>(i), &entry) == nullptr) break;
      const auto type = GELF_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (gelf_getsym(table, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol) == nullptr) continue;
      const char* name = elf_strptr(elf_, symbols_header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') slots_[entry.r_offset] = name;
    }
  }
}

bool CallTargets::read(std::uint64_t address, unsigned char* to, std::size_t bytes) const {
  std::size_t count = 0;
  if (elf_ == nullptr || elf_getphdrnum(elf_, &count) != 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    if (address < header.p_vaddr || address - header.p_vaddr > header.p_filesz ||
        header.p_filesz - (address - header.p_vaddr) < bytes)
      continue;
    const auto offset = static_cast<std::int64_t>(header.p_offset + (address - header.p_vaddr));
    const Elf_Data* data = elf_getdata_rawchunk(elf_, offset, bytes, ELF_T_BYTE);
    if (data == nullptr || data->d_size < bytes) return false;
    std::memcpy(to, data->d_buf, bytes);
    return true;
  }
  return false;
}

// The symbol that begins at the address. Addresses within a function are not accepted, because the bytes that look like
// a call may be the end of another instruction.
std::string CallTargets::at_entry(std::uint64_t address) const {
  auto found = std::lower_bound(functions_.begin(), functions_.end(), address,
                                [](const Function& function, std::uint64_t low) { return function.low < low; });
  if (found == functions_.end() || found->low != address || found->chooses) return {};
  return found->name;
}

std::string CallTargets::by_slot(std::uint64_t slot) const {
  const auto found = slots_.find(slot);
  return found == slots_.end() ? std::string() : found->second;
}

std::optional<std::uint64_t> CallTargets::slot_of_stub(std::uint64_t address) const {
  unsigned char code[processor::jump_bytes];
  return read(address, code, sizeof code) ? processor::slot_of_jump(address, code) : std::nullopt;
}

// A name for a function without a symbol: object and offset. Empty if no function begins at the address according to
// the unwind tables.
std::string CallTargets::without_symbol(std::uint64_t address) const {
  Dwarf_Addr bias = 0;
  Dwarf_CFI* tables = dwfl_module_eh_cfi(module_, &bias);
  Dwarf_Frame* row = nullptr;
  const Dwarf_Addr wanted = address + bias_ - bias;
  if (tables == nullptr || dwarf_cfi_addrframe(tables, wanted, &row) != 0) return {};
  Dwarf_Addr start = 0;
  const bool begins = dwarf_frame_info(row, &start, nullptr, nullptr) >= 0 && start == wanted;
  std::free(row);
  if (!begins) return {};
  const std::string_view path =
      dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(address));
  return std::string(path.substr(path.rfind('/') + 1)) + text;
}

std::string CallTargets::callee(std::uint64_t return_address) const {
  unsigned char code[processor::call_bytes];
  if (return_address < sizeof code || !read(return_address - sizeof code, code, sizeof code)) return {};
  const processor::Call call = processor::call_before(return_address, code);
  if (call.kind == processor::Call::through_slot) return by_slot(call.address);
  if (call.kind != processor::Call::direct) return {};
  if (std::string name = at_entry(call.address); !name.empty()) return name;
  const auto slot = slot_of_stub(call.address);
  return slot ? by_slot(*slot) : without_symbol(call.address);
}

std::vector<std::string> CallTargets::functions_at(std::uint64_t address) const {
  auto above = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](std::uint64_t low, const Function& function) { return low < function.low; });
  // Finds the nearest symbol that covers the address, and all others that begin at the same address.
  while (above != functions_.begin() && (above - 1)->high <= address && (above - 1)->low + (1U << 20) > address)
    --above;
  if (above == functions_.begin() || (above - 1)->high <= address) return {};
  const std::uint64_t low = (above - 1)->low;
  std::vector<std::string> names;
  for (auto each = above; each != functions_.begin() && (each - 1)->low == low; --each)
    names.push_back((each - 1)->name);
  return names;
}

bool is_tail_call(const std::string& callee, const std::vector<std::string>& functions) {
  return !callee.empty() && !functions.empty() && !is_left_out(callee) &&
         std::find(functions.begin(), functions.end(), callee) == functions.end();
}

bool is_tail_call_of_mpi(const std::string& callee) { return !callee.empty() && !is_left_out(callee); }

}  // namespace tare::reader
