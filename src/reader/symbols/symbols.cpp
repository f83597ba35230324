#include "reader/symbols/symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "reader/symbols/call_targets.h"
#include "reader/symbols/debug_file.h"
#include "reader/symbols/function_scopes.h"

namespace tare::reader {
namespace {

std::string string_of(const char* text) { return text != nullptr ? text : ""; }

// A name without what the compiler appends to that of a function for the code of OpenMP regions and tasks in it. Empty
// if it is clang's own, as ".omp_outlined..2" and ".omp.reduction.reduction_func" are: then it does not tell the
// function.
std::string without_outlined(const std::string& name) {
  if (name.starts_with('.')) return {};
  return name.substr(0, std::min({name.find("._omp_fn."), name.find(".omp_outlined"), name.find(".omp_task_entry")}));
}

std::string own_name_of(Dwarf_Die* function) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(function, name, &attribute) == nullptr) continue;
    const std::string linkage = string_of(dwarf_formstring(&attribute));
    // The linkage name of a Fortran main program is MAIN__. Its name in the source is used instead.
    if (!linkage.empty() && linkage != "MAIN__") return demangled(without_outlined(linkage));
  }
  return demangled(without_outlined(string_of(dwarf_diename(function))));
}

// Where a function is declared: the number of the file in its compilation unit, and the line.
struct Declared {
  Dwarf_Word file = 0;
  int line = 0;
};
Declared declared(Dwarf_Die* function) {
  Declared found;
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) != nullptr) dwarf_formudata(&attribute, &found.file);
  if (dwarf_decl_line(function, &found.line) != 0) found.line = 0;
  return found;
}

// The function of the unit in whose source text the place is: the last one that begins before it.
void find_around(Dwarf_Die* within, const Declared& place, int& line, std::string& name) {
  Dwarf_Die child;
  if (dwarf_child(within, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_module)
      find_around(&child, place, line, name);
    if (tag != DW_TAG_subprogram || dwarf_hasattr(&child, DW_AT_declaration) != 0) continue;
    const Declared at = declared(&child);
    if (at.file != place.file || at.line > place.line || at.line <= line) continue;
    const std::string own = own_name_of(&child);
    if (own.empty()) continue;
    line = at.line;
    name = own;
  } while (dwarf_siblingof(&child, &child) == 0);
}

// Empty if it is code of a region or a task, and it is not known of which function.
std::string name_of(Dwarf_Die* unit, Dwarf_Die* function) {
  std::string name = own_name_of(function);
  const Declared place = declared(function);
  int line = 0;
  if (name.empty() && place.line > 0) find_around(unit, place, line, name);
  return name;
}

bool has_address(Dwarf_Die* unit, Dwarf_Addr address) { return dwarf_haspc(unit, address) > 0; }

}  // namespace

std::string demangled(const std::string& name) {
  if (name.starts_with("_Z")) {
    int status = 0;
    char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    std::string result = plain != nullptr ? plain : name;
    std::free(plain);
    return result;
  }
  constexpr const char* separator = "_MOD_";
  const std::size_t at = name.find(separator);
  if (name.starts_with("__") && at != std::string::npos && at > 2)
    return name.substr(2, at - 2) + "::" + name.substr(at + std::strlen(separator));
  return name;
}

// One object file and its debug information.
class Symbolizer::Object {
 public:
  Object(const std::string& path, const std::string& build_id) : file_(path, build_id), module_(file_.module()) {
    if (module_ != nullptr) targets_.emplace(module_, file_.bias());
  }

  // `address`: an address within the call instruction.
  std::optional<Symbol> find(Dwarf_Addr address) {
    if (module_ == nullptr) return std::nullopt;
    Symbol symbol;
    symbol.callee = targets_->callee(address + 1);
    symbol.functions = targets_->functions_at(address);
    address += file_.bias();
    Dwarf_Addr bias = 0;
    if (Dwarf_Die* unit = unit_of(address, bias)) {
      symbol.caller = caller_in(unit, address - bias);
      find_line(unit, address - bias, symbol);
    }
    if (symbol.caller.empty()) symbol.caller = from_symbol_table(address);
    if (symbol.caller.empty() && symbol.file.empty() && symbol.callee.empty()) return std::nullopt;
    return symbol;
  }

 private:
  Dwarf_Die* unit_of(Dwarf_Addr address, Dwarf_Addr& bias) {
    if (Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias)) return unit;
    // Without an index of addresses (clang does not write one), every compilation unit is searched.
    Dwarf_Die* unit = nullptr;
    while ((unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr)
      if (has_address(unit, address - bias)) return unit;
    return nullptr;
  }

  std::string caller_in(Dwarf_Die* unit, Dwarf_Addr address) {
    std::string innermost;
    std::string outermost;
    for (Dwarf_Die& scope : scopes_.try_emplace(dwarf_dieoffset(unit), unit).first->second.at(address)) {
      // The search also ends at a Fortran main program, which the compiler inlines into a main() that it generated.
      const bool function =
          dwarf_tag(&scope) == DW_TAG_subprogram || dwarf_hasattr_integrate(&scope, DW_AT_main_subprogram);
      if (const std::string name = name_of(unit, &scope); !name.empty()) outermost = name;
      if (innermost.empty()) innermost = outermost;
      if (function && innermost.empty()) innermost = outermost = string_of(dwarf_diename(&scope));
      if (function) break;
    }
    return innermost == outermost ? innermost : innermost + " (inlined in " + outermost + ")";
  }

  static void find_line(Dwarf_Die* unit, Dwarf_Addr address, Symbol& symbol) {
    Dwarf_Line* line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return;
    symbol.file = string_of(dwarf_linesrc(line, nullptr, nullptr));
    symbol.line = static_cast<std::uint32_t>(number);
  }

  std::string from_symbol_table(Dwarf_Addr address) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name = dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    // Removes the suffix that the compiler appends to a modified function: "solve.isra.0".
    const std::string changed = string_of(name);
    return demangled(changed.substr(0, changed.find('.', 1)));
  }

  DebugFile file_;
  Dwfl_Module* module_;
  std::optional<CallTargets> targets_;
  std::unordered_map<Dwarf_Off, FunctionScopes> scopes_;  // by compilation unit
};

struct Symbolizer::Objects {
  std::unordered_map<std::string, std::unique_ptr<Object>> open;  // by path and build-id
};

Symbolizer::Symbolizer() : objects_(std::make_unique<Objects>()) {}
Symbolizer::~Symbolizer() = default;

std::optional<Symbol> Symbolizer::find(const CodeAddress& at) {
  // Memory that belongs to no object, or an object that is no file ([vdso]).
  if (!at.object.starts_with('/') || at.address == 0) return std::nullopt;
  auto& object = objects_->open[at.object + '\0' + at.build_id];
  if (!object) object = std::make_unique<Object>(at.object, at.build_id);
  return object->find(at.address - 1);
}

}  // namespace tare::reader
