// The symbols that a run carries with it, so that it stays readable where the program is gone or rebuilt.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "reader/symbols/symbols.h"

namespace tare::reader {

class SymbolTable {
 public:
  // Takes the entries of a symbols chunk. False if one is malformed; those before it have been taken.
  bool apply(std::string_view payload);
  const Symbol* find(const CodeAddress& at) const;

 private:
  std::unordered_map<std::string, Symbol> symbols_;
};

// Appends one entry to the payload of a symbols chunk.
void append_symbol(std::string& payload, const CodeAddress& at, const Symbol& symbol);

}  // namespace tare::reader
