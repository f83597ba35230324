// Finds the function, file and line of a call site with elfutils.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tare::reader {

// A call site in an object file. `address` is the return address of the call, as an address in the file.
struct CodeAddress {
  std::string object;    // path
  std::string build_id;  // raw bytes; empty if the object has none
  std::uint64_t address = 0;

  bool operator==(const CodeAddress&) const = default;
};

struct Symbol {
  std::string caller;  // the function that makes the call, demangled; "a (inlined in b)" if it is inlined
  std::string file;    // empty without debug information
  std::uint32_t line = 0;
  // To find tail calls (call_targets.h): the function that the call instruction calls, and all symbols of the function
  // that contains the call.
  std::string callee{};
  std::vector<std::string> functions{};
};

// Keeps objects open between look-ups. Not thread-safe.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();

  // Nothing if the object does not exist, has another build-id, or has no information about the address.
  std::optional<Symbol> find(const CodeAddress& at);

 private:
  class Object;
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

// "_ZN1a1bEv" becomes "a::b()"; "__mod_MOD_proc" of gfortran becomes "mod::proc"; other names do not change.
std::string demangled(const std::string& name);

}  // namespace tare::reader
