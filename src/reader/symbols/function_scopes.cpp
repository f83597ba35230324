#include "reader/symbols/function_scopes.h"

#include <dwarf.h>

#include <algorithm>

namespace tare::reader {

FunctionScopes::FunctionScopes(Dwarf_Die* unit) {
  read_functions(unit);
  std::stable_sort(functions_.begin(), functions_.end(), [](const Scope& a, const Scope& b) { return a.low < b.low; });
}

std::span<Dwarf_Die> FunctionScopes::at(Dwarf_Addr address) {
  found_.clear();
  const auto behind = std::upper_bound(functions_.begin(), functions_.end(), address,
                                       [](Dwarf_Addr at, const Scope& scope) { return at < scope.low; });
  // Of functions with the same code, which a linker has folded, it is the first.
  const auto function =
      behind == functions_.begin()
          ? behind
          : std::find_if(std::lower_bound(functions_.begin(), behind, std::prev(behind)->low,
                                          [](const Scope& scope, Dwarf_Addr low) { return scope.low < low; }),
                         behind, [address](const Scope& scope) { return address < scope.high; });
  if (function == behind) return {};
  const auto [inlined, is_new] = inlined_in_.try_emplace(dwarf_dieoffset(&function->die));
  if (is_new) read_inlined(inlined->second, &function->die);
  found_.push_back(function->die);
  for (const Scope& scope : inlined->second)
    if (scope.low <= address && address < scope.high) found_.push_back(scope.die);
  std::reverse(found_.begin(), found_.end());
  return found_;
}

void FunctionScopes::append(std::vector<Scope>& to, Dwarf_Die* die) {
  Scope scope{0, 0, *die};
  Dwarf_Addr base = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &scope.low, &scope.high)) > 0;)
    if (scope.low < scope.high) to.push_back(scope);
}

void FunctionScopes::read_functions(Dwarf_Die* within) {
  Dwarf_Die die;
  if (dwarf_child(within, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        append(functions_, &die);
        [[fallthrough]];  // functions of Fortran contain others
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_lexical_block:
        read_functions(&die);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

void FunctionScopes::read_inlined(std::vector<Scope>& to, Dwarf_Die* within) {
  Dwarf_Die die;
  if (dwarf_child(within, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_inlined_subroutine:
        append(to, &die);
        [[fallthrough]];
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_with_stmt:
        read_inlined(to, &die);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

}  // namespace tare::reader
