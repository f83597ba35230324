// Finds which function a call instruction calls, and which function contains an address. If a frame of a call path
// calls one function, and the next inner frame lies in another one, the called function has left by a tail call.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// The call targets of one object file, from its code, symbols and relocations. Addresses are those in the file.
class CallTargets {
 public:
  // Reads the symbols. `bias`: address in `module` = bias + address in the file. `module` must outlive the object.
  CallTargets(Dwfl_Module* module, Dwarf_Addr bias);

  // The symbol of the function that is called by the instruction before `return_address`; "app+0x1f40" if the function
  // has no symbol. Empty if it is not known, as for calls through pointers.
  std::string callee(std::uint64_t return_address) const;
  // All symbols of the function that contains `address`. Empty if no symbol covers the address.
  std::vector<std::string> functions_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t low;
    std::uint64_t high;
    std::string name;
    bool chooses;  // an IFUNC: its resolver chooses one of several functions at run time
  };

  void read_functions();
  void read_slots();
  bool read(std::uint64_t address, unsigned char* to, std::size_t bytes) const;
  std::string at_entry(std::uint64_t address) const;
  std::string by_slot(std::uint64_t slot) const;
  std::optional<std::uint64_t> slot_of_stub(std::uint64_t address) const;
  std::string without_symbol(std::uint64_t address) const;

  Dwfl_Module* module_;
  Dwarf_Addr bias_;
  Elf* elf_ = nullptr;
  std::vector<Function> functions_;                       // sorted by address
  std::unordered_map<std::uint64_t, std::string> slots_;  // the symbol of each slot of the global offset table
};

// Whether the function that the outer frame called went on to the inner frame by a tail call. `callee`: callee() of the
// outer frame. `functions`: functions_at() of the inner frame. False if it is not certain.
bool is_tail_call(const std::string& callee, const std::vector<std::string>& functions);
// The same if the inner function is an MPI function, which is not part of the path.
bool is_tail_call_of_mpi(const std::string& callee);

}  // namespace tare::reader
