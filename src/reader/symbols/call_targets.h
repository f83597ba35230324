// Which function a call instruction calls, and which function holds an address: where the two do not fit, a function
// between them has left by a tail call.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// Of one object file, from its code, symbols and relocations. Addresses are those in the file.
class CallTargets {
 public:
  // `bias`: address in the module = bias + address in the file. Reads the symbols at once.
  CallTargets(Dwfl_Module* module, Dwarf_Addr bias);

  // The symbol of the function that is called before `return_address`; without symbols "app+0x1f40". Empty if that is
  // not known, as of calls through pointers.
  std::string callee(std::uint64_t return_address) const;
  // All symbols of the function that holds `address`. Empty if no symbol spans it.
  std::vector<std::string> functions_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t low;
    std::uint64_t high;
    std::string name;
    bool chooses;  // which of several functions is meant is found out at run time (IFUNC)
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
  std::vector<Function> functions_;                       // by address
  std::unordered_map<std::uint64_t, std::string> slots_;  // of the global offset table: which symbol they lead to
};

// Whether `outer` called a function that went on to `inner` by a tail call. `callee`: what the call in the outer frame
// names; `functions`: those of the inner frame. Only what is sure counts.
bool is_tail_call(const std::string& callee, const std::vector<std::string>& functions);
// The same where the inner function is one of MPI.
bool is_tail_call_of_mpi(const std::string& callee);

}  // namespace tare::reader
