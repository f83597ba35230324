// The profile of a thread: its table of rows, in its block of the segment (format/location_block.h). A row has the
// calls of one call site, function, size class and communicator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/location_block.h"
#include "recorder/call.h"
#include "recorder/row.h"

namespace tare::recorder {

// The rows that recent calls of one call site were added to, so that the next call finds its row at once. Row 0: none.
struct KnownRows {
  static constexpr unsigned classes = 4;
  std::uint8_t last;               // of `by_size`: the row of the last call
  std::uint8_t untimed;            // of the next calls, how many need not be timed (timing_sample.h)
  std::uint16_t by_size[classes];  // size class % classes
};

// The size of the table of a thread that records calls: rows of call sites, rows of parallel regions when these are
// full, one row for each function, and row 0.
inline constexpr std::uint32_t rows_of_sites = 2048;
inline constexpr std::uint32_t rows_of_regions = 64;
inline constexpr std::uint32_t usual_rows = rows_of_sites + rows_of_regions + format::function_count + 1;
static_assert(usual_rows <= format::index_slots * 3 / 4, "the search for a row would be long");

// Only the owning thread uses it. No function allocates or throws.
struct ProfileTable {
  format::ProfileRow* rows;  // those of a block, which is found by them: one address for all that a call needs here

  // The number of rows that there is room for.
  std::uint32_t capacity() const noexcept { return shared().row_capacity; }
  // The rows that are left for functions, without call site, when all others are in use. Small tables have an eighth.
  std::uint32_t reserved_of_functions() const noexcept {
    return capacity() < usual_rows ? capacity() / 8 : format::function_count;
  }
  // These, and those of regions. Small tables have a quarter.
  std::uint32_t reserved() const noexcept {
    return capacity() < usual_rows ? capacity() / 4 : format::function_count + rows_of_regions;
  }

  // Row 0, "other", has what finds no room. To be called once for a block, which is zeroed.
  void begin() noexcept;

  format::LocationHeader& shared() const noexcept { return *format::block_of(rows); }

  // The row of a call, made at its first. Row 0 if the table is full.
  format::ProfileRow& row(std::uint32_t site, std::uint16_t function, std::uint8_t size_class,
                          std::uint32_t communicator) noexcept {
    const std::uint64_t what = what_of(function, size_class, communicator);
    unsigned slot = slot_of(site, what);
    for (;; slot = (slot + 1) % format::index_slots) {
      const std::uint16_t number = shared().index[slot];
      if (number == 0) return new_row(slot, site, what);
      format::ProfileRow& candidate = rows[number];
      if (candidate.site == site && what_of(candidate) == what) return candidate;
    }
  }
  // The number of the row of a call.
  [[gnu::noinline]] std::uint16_t find_row(const Call& call, std::uint8_t size_class) noexcept {
    return static_cast<std::uint16_t>(&row(call.site, call.function, size_class, call.communicator) - rows);
  }

  // Before a call: prefetches the row of the call site's last call, because the program's computation between two calls
  // evicts tare's memory from the caches.
  [[gnu::always_inline]] void expect_row(const KnownRows& known) const noexcept {
    const auto* row = reinterpret_cast<const char*>(&rows[known.by_size[known.last]]);
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + 64, 1);
  }
  // Before a call that may complete a request of a call of that row: prefetches the row. It may be another thread's, so
  // it is not read.
  [[gnu::always_inline]] void expect_completion(std::uint16_t row) const noexcept {
    __builtin_prefetch(reinterpret_cast<const char*>(&rows[row]) + offsetof(format::ProfileRow, bytes), 1);
  }

 private:
  static unsigned slot_of(std::uint64_t site, std::uint64_t what) noexcept {
    const std::uint64_t h = (site * 0x9e3779b97f4a7c15U) ^ (what * 0xc2b2ae3d27d4eb4fU);
    return static_cast<unsigned>(h >> 52);
    static_assert(format::index_slots == 1U << (64 - 52));
  }
  [[gnu::cold]] format::ProfileRow& new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept;
};

}  // namespace tare::recorder
