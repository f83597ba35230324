// Where a function keeps its caller's registers, at one of its instructions, according to the unwind tables that
// compilers emit (.eh_frame): one row of the table of DWARF 5, section 6.4.1, for the registers that are needed to walk
// up the stack.
#pragma once

#include <cstdint>

#include "processor/registers.h"

namespace tare::stack {

using processor::base_register;
using processor::return_register;
using processor::stack_register;

struct Rule {
  enum Kind : std::uint8_t { same, undefined, at_cfa, at_base, unknown } kind = same;
  std::int64_t offset = 0;
};

// One row of the table. The canonical frame address (CFA) is `cfa_register` + `cfa_offset`, or, if `cfa_loaded`, the
// word that is stored there.
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

// The rules at `target` bytes into the function of this frame description entry. False if the entry uses something that
// is not supported here, or belongs to a signal frame. Reads only the table, and needs no memory except the stack.
bool read_rules(const unsigned char* fde, std::uint64_t target, Rules& rules) noexcept;

}  // namespace tare::stack
