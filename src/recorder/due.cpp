#include "recorder/due.h"

#include <algorithm>

#include "recorder/spells.h"

namespace tare::recorder {

void do_what_is_due(Location& location, Piece piece, std::uint64_t begin, std::uint64_t end) noexcept {
  if (end >= location.scheduling.due) read_scheduling(location, piece, begin, end);
  if (piece == Piece::outside) {
    location.due = std::min(location.scheduling.due, spells.look_due(location));
  } else {
    location.due = location.scheduling.due;
    spells.look(location, end);
  }
}

}  // namespace tare::recorder
