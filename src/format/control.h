// Short messages of a user to the ranks of a monitored run (`tare monitor --send`, tare_control()). tared writes them
// into memory that the ranks of its node share (recorder/node_words.h). docs/monitoring.md is for users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tare::format {

enum class ControlType : std::uint32_t { none, integer, real, text };

inline constexpr std::int32_t all_ranks = -1;
// Of a line in which a user asks for something (tared/monitor/control_desk.h).
inline constexpr std::size_t max_request_bytes = 3000;

struct ControlMessage {
  static constexpr std::size_t name_bytes = 32;  // with a zero at the end
  static constexpr std::size_t max_text_bytes = 64;
  static constexpr std::size_t text_bytes = max_text_bytes + 8;  // zeros follow the text

  std::uint64_t number = 0;      // from 1 on, in the order of the requests; 0: there is none here
  std::uint64_t from_point = 0;  // ranks get it at this offload point, so all of them at the same
  std::int32_t rank = all_ranks;
  ControlType type = ControlType::none;
  std::uint64_t value = 0;  // an integer, or the bits of a double
  std::array<char, name_bytes> name{};
  std::array<char, text_bytes> text{};
};

// The last messages. Message n lies at n % most.
struct ControlMessages {
  static constexpr std::uint64_t most = 16;

  std::uint64_t last = 0;  // number
  std::array<ControlMessage, most> of{};
};
static_assert(sizeof(ControlMessage) == 136);

}  // namespace tare::format
