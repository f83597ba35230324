// What the root tells the sources of all nodes (SnapshotSource::command): a kind, then its content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "format/control.h"
#include "format/sweet_spot.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

// What snapshots contain from a round on: keys of the text of TARE_MONITOR (`only=`, `site=`).
struct ChosenFrom {
  std::uint64_t from_round = 0;
  std::string text;
};

using SourceCommand = std::variant<format::SweetSpots, format::ControlMessage, ChosenFrom>;

Bytes encode_command(const SourceCommand& command);
// Nothing if the bytes are no command.
std::optional<SourceCommand> decode_command(std::span<const std::byte> bytes);

}  // namespace tare::tared
