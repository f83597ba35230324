#include "tared/monitor/commands.h"

#include <type_traits>

#include "tared/filters/snapshot.h"

namespace tare::tared {

Bytes encode_command(const SourceCommand& command) {
  Bytes bytes;
  Writer out(bytes);
  out.put(static_cast<std::uint32_t>(command.index()));
  std::visit(
      [&out](const auto& content) {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, ChosenFrom>) {
          out.put(content.from_round);
          out.put_text(content.text);
        } else {
          out.put(content);
        }
      },
      command);
  return bytes;
}

std::optional<SourceCommand> decode_command(std::span<const std::byte> bytes) {
  Reader in(bytes);
  SourceCommand command;
  switch (in.get<std::uint32_t>()) {
    case 0:
      command = in.get<format::SweetSpots>();
      break;
    case 1:
      command = in.get<format::ControlMessage>();
      break;
    case 2: {
      const auto from_round = in.get<std::uint64_t>();
      command = ChosenFrom{from_round, in.get_text(max_command_bytes)};
      break;
    }
    default:
      return {};
  }
  if (!in.ok() || !in.at_end()) return {};
  return command;
}

}  // namespace tare::tared
