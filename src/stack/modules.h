// The objects loaded into this process, and which of them are language bindings of MPI, or other objects between the
// program's function and the call.
#pragma once

#include <cstdint>

namespace tare::stack {

// `threads`: a runtime of OpenMP, or this library between it and the program.
enum class Binding : std::uint8_t { none, fortran, cxx, python, threads };

// The other objects whose frames end a path or are skipped (Recipe::Place).
enum class ModuleKind : std::uint8_t { elsewhere, program, system, interpreter };

struct Module {
  std::uintptr_t low;  // of its loaded segments
  std::uintptr_t high;
  std::uintptr_t bias;
  std::uintptr_t unwind_tables;  // PT_GNU_EH_FRAME; 0: none
  Binding binding;
  ModuleKind kind;
  bool defined;  // in the definition log
};

inline constexpr unsigned max_modules = 1024;
inline constexpr std::uint32_t unknown_module = UINT32_MAX;

// The number of the module that contains an address. Reads the loader's list if no known module does; in the handler of
// a signal (loader_may_be_busy) what the C library tells without it, from glibc 2.35 on. unknown_module for addresses
// in no file (code made at run time). Calls the loader: hold no lock.
std::uint32_t module_of(std::uintptr_t address) noexcept;

// While it is set, module_of() does not call the loader: a signal has interrupted this thread, perhaps in the loader,
// whose list may name what is not mapped any more.
[[gnu::visibility("hidden")]] extern constinit thread_local bool loader_may_be_busy [[gnu::tls_model("initial-exec")]];
// The module that contains an address, if it is known already; else nullptr.
const Module* known_module(std::uintptr_t address) noexcept;

// Reads the loader's list. Calls the loader: hold no lock.
void read_modules() noexcept;

// For the unwinder of a library that is linked for a C library before 2.35 (tools/newer_glibc.c), whose loader takes a
// lock to tell the object of an address. 0: it is to be asked. While loader_may_be_busy: 1: this is the object, with
// its unwind tables; -1: it is not known.
extern "C" int tare_known_object(std::uintptr_t address, std::uintptr_t* begin, std::uintptr_t* end,
                                 std::uintptr_t* tables) noexcept;

const Module& module(std::uint32_t number) noexcept;
std::uint32_t module_count() noexcept;

// Writes the definition of the module, once.
void define_module(std::uint32_t number) noexcept;

void reset_modules() noexcept;

}  // namespace tare::stack
