// Where a function keeps its caller's registers at one of its instructions, from the unwind tables that compilers emit
// (.eh_frame): one row of the table of DWARF 5, section 6.4.1, for the registers that a walk up the stack needs.
#pragma once

#include <cstdint>

namespace tare::mpi {

#if defined(__x86_64__)
inline constexpr unsigned base_register = 6;   // rbp, in DWARF's numbering (System V ABI, figure 3.36)
inline constexpr unsigned stack_register = 7;  // rsp
inline constexpr unsigned return_register = 16;
#elif defined(__aarch64__)
inline constexpr unsigned base_register = 29;
inline constexpr unsigned stack_register = 31;
inline constexpr unsigned return_register = 30;
#endif

// Where a register's old value is, in one row of the table.
struct Rule {
  enum Kind : std::uint8_t { same, undefined, at_cfa, at_base, unknown } kind = same;
  std::int64_t offset = 0;
};

// One row of the table. The canonical frame address (CFA) is `cfa_register` + `cfa_offset`, or, if `cfa_loaded`, what
// is stored there.
struct Rules {
  std::uint64_t cfa_register = ~std::uint64_t{0};
  std::int64_t cfa_offset = 0;
  bool cfa_loaded = false;
  bool cfa_known = true;
  Rule base;
  Rule return_address;

  void set(std::uint64_t reg, Rule rule) noexcept {
    if (reg == base_register) base = rule;
    if (reg == return_register) return_address = rule;
  }
  void set_cfa(std::uint64_t reg, std::int64_t offset) noexcept {
    cfa_register = reg;
    cfa_offset = offset;
    cfa_loaded = false;
    cfa_known = true;
  }
};

// The rules at `target` bytes into the function whose frame description entry this is. False if the entry uses what is
// not understood here, or is that of a signal frame. Reads the table alone, and uses no memory but the stack.
bool read_rules(const unsigned char* fde, std::uint64_t target, Rules& rules) noexcept;

}  // namespace tare::mpi
