// What the referee leaves: a file for each process, with the spells in their order.
// python/tare/lab/study/referee/spell_files.py reads it. And the page that the ranks of a node share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tare::mpi::referee {

inline constexpr unsigned max_tools = 8;
inline constexpr std::uint32_t max_spells = 1U << 16U;
inline constexpr std::uint16_t not_loaded = 0xffff;
inline constexpr std::uint64_t unknown_hook = ~std::uint64_t{0};

enum Flags : std::uint32_t {
  several_threads = 1,  // more than one thread of the process calls MPI
  unknown_abi = 2,
};

// From one turn to the next.
struct Spell {
  std::uint64_t begin;  // CLOCK_MONOTONIC in ns
  std::uint64_t end;
  std::uint64_t waited;  // of this time, what the thread was ready to run but had no processor, in ns
  std::uint64_t anchor;  // the anchor from which on spells are numbered: how many there were before
  std::uint32_t number;  // from 0 on
  std::uint32_t ticks;
  std::uint16_t site;   // of the anchor: the low bits of the address where it returns to
  std::uint16_t route;  // 0: no tool; else the number of the tool
  std::uint32_t place;  // in the program's repetition: the number since its begin
};

struct SpellFileHeader {
  char magic[8];
  std::uint32_t version;
  std::int32_t rank;
  std::int32_t ranks;
  std::uint32_t tools;
  std::uint32_t flags;
  std::uint32_t hindered;              // turns that had to wait, because a request was under way
  std::uint16_t functions[max_tools];  // of each tool: how many functions of MPI it has
  std::uint64_t ticks;                 // of the process so far, when it last turned
  std::atomic<std::uint64_t> spells;
  std::uint64_t hook_ns[max_tools];  // of each tool: its own time in MPI_Init and MPI_Finalize; unknown_hook
};
static_assert(sizeof(Spell) == 48 && sizeof(SpellFileHeader) == 128);

struct SpellFile {
  SpellFileHeader header;
  Spell spells[max_spells];
};

// How long spells are. One rank of the node finds it out, and again if the program changes its pace. The others read
// it.
struct Length {
  std::uint64_t ticks;
  std::uint64_t anchors;  // 0: less than one
  std::uint64_t period;   // of the program's repetition, in ticks: as many spells, or a part of one; 0: not known
  std::uint64_t from;     // the tick from which on this holds
};
struct Agreement {
  std::atomic<std::int32_t> leader;  // its process; 0: none
  std::atomic<std::uint32_t> count;
  Length lengths[32];
};

inline constexpr char agreement_name[] = "agreement";
inline constexpr char spells_suffix[] = ".spells";

}  // namespace tare::mpi::referee
