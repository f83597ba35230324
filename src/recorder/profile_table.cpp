#include "recorder/profile_table.h"

#include <atomic>
#include <cstring>

#include "format/function_meaning.h"
#include "recorder/errno_guard.h"

namespace tare::recorder {
namespace {

// When half of the table is full, call sites matter more than communicators, but for the first ones: MPI_COMM_WORLD and
// those of libraries.
constexpr std::uint32_t first_families = 64;

}  // namespace

void ProfileTable::begin() noexcept {
  rows[0].ticks_min = UINT64_MAX;
  shared().summary.rows = 1;
}

format::ProfileRow& ProfileTable::new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept {
  const ErrnoGuard guard;
  // Some rows are kept for one row a function, without call site, when the rest is full; row 0, "other", for what does
  // not fit even there. Probing stays short with the index not full. Others are kept for parallel regions, and for one
  // row a function in each, so that what threads did in a region is known.
  const std::uint32_t number = shared().summary.rows;
  const auto communicator = static_cast<std::uint32_t>(what >> 32);
  const auto function = static_cast<std::uint16_t>(what);
  if (communicator != format::no_communicator && function > format::mpi_function_count) {
    const format::CallClass kind = format::meaning_of(function).kind;
    const bool is_region = kind == format::CallClass::start || kind == format::CallClass::local;
    const std::uint32_t kept = site == 0 || is_region ? reserved_of_functions() : reserved();
    if (number >= capacity() - kept) {
      shared().summary.full |= format::full_rows;
      return row(0, function, format::no_size, site == 0 ? format::no_communicator : communicator);
    }
  } else if (site != 0 && number >= capacity() / 2 && communicator > first_families) {
    shared().summary.full |= format::merged_communicators;
    return row(site, function, static_cast<std::uint8_t>(what >> 16), format::no_communicator);
  } else if (site != 0 && number >= capacity() - reserved()) {
    shared().summary.full |= format::full_rows;
    return row(0, function, format::no_size, format::no_communicator);
  }
  if (number >= capacity()) return rows[0];
  format::ProfileRow& made = rows[number];
  made = {};
  made.site = site;
  std::memcpy(&made.function, &what, sizeof what);
  made.ticks_min = UINT64_MAX;
  std::atomic_ref(shared().summary.rows).store(number + 1, std::memory_order_release);
  shared().index[slot] = static_cast<std::uint16_t>(number);
  return made;
}

}  // namespace tare::recorder
