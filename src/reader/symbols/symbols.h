// What a call site means: object, function, file and line, found with elfutils.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tare::reader {

// A call site in an object file: the address, in the file, that the call returns to.
struct CodeAddress {
  std::string object;    // path
  std::string build_id;  // bytes; empty if the object has none
  std::uint64_t address = 0;

  bool operator==(const CodeAddress&) const = default;
};

struct Symbol {
  std::string caller;  // demangled; "a (inlined in b)" where the call is in an inlined function
  std::string file;    // empty without debug information
  std::uint32_t line = 0;
  // To find tail calls (call_targets.h): what the call names, and all symbols of the function that it is in.
  std::string callee{};
  std::vector<std::string> functions{};
};

// Keeps objects open between look-ups. Not thread-safe.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();

  // Empty if the object is gone, has another build-id, or nothing is known of the address.
  std::optional<Symbol> find(const CodeAddress& at);

 private:
  class Object;
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

// "hypre_SMGRelax" stays, "_ZN1a1bEv" becomes "a::b()", gfortran's "__mod_MOD_proc" "mod::proc".
std::string demangled(const std::string& name);

}  // namespace tare::reader
