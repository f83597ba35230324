// The functions of a compilation unit, and what is inlined in each: which of them contain an address.
//
// libdw's dwarf_getscopes_die() reads all entries of the unit for each address. Units of generated code and of C++ have
// hundreds of thousands, so each is read once here, and so are the parts of a function that has such an address.
#pragma once

#include <elfutils/libdw.h>

#include <span>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// Addresses are those of the debug information of the unit, which must outlive the object.
class FunctionScopes {
 public:
  explicit FunctionScopes(Dwarf_Die* unit);

  // The function that contains the address, behind those that are inlined there, the innermost first. Empty if the unit
  // has none. Valid until the next call.
  std::span<Dwarf_Die> at(Dwarf_Addr address);

 private:
  struct Scope {
    Dwarf_Addr low;
    Dwarf_Addr high;
    Dwarf_Die die;
  };

  static void append(std::vector<Scope>& to, Dwarf_Die* die);
  void read_functions(Dwarf_Die* within);
  static void read_inlined(std::vector<Scope>& to, Dwarf_Die* within);

  std::vector<Scope> functions_;                                  // sorted by address
  std::unordered_map<Dwarf_Off, std::vector<Scope>> inlined_in_;  // an outer one before those in it; by function
  std::vector<Dwarf_Die> found_;
};

}  // namespace tare::reader
