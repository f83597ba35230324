// Channels whose messages are sent before a synchronisation point and received after it.
//
// After a gap in a trace, the messages of a channel are numbered anew from a synchronisation point that all ranks make
// (trace_gaps.h). That is only right if every message sent before this synchronisation point is also received before
// it. MPI does not demand that, and what happened in the gap is not recorded. But a program tends to do the same again
// and again. So when one message of a channel has been seen to cross a synchronisation point, its messages after gaps
// are not matched any more.
//
// Three things show it: the parts of the message lie in different spells; the message is received before it is sent, or
// has a different size there, because the parts belong to different messages. If a program shows none of them, messages
// of its spells can be mistaken for one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reader/matching/channels.h"
#include "reader/matching/message.h"
#include "reader/run/run.h"

namespace tare::reader {

class CrossingChannels {
 public:
  // The times of the run must be those of the parts (Run::move_times). If the run has no spells, no channel crosses.
  explicit CrossingChannels(Run& run);

  // Looks at the two parts of a message of a world, as far as they are known. Returns leaves_out(at).
  bool look_at(const Channel& at, std::int32_t world, const Part& sent, const Part& received);
  // Whether messages of a channel are not matched, because they cross synchronisation points and lie after a gap.
  bool leaves_out(const Channel& at);
  // The number of channels that were left out, in any epoch.
  std::size_t left_out() const { return left_out_; }

 private:
  // The number of spells of a rank that have begun at a time; nothing after the last known spell.
  std::optional<std::size_t> spells_until(std::int32_t world, std::int32_t rank, std::int64_t time_ns) const;

  // By world and rank: the begins of its spells, and at last the end of the last one.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int64_t>> begins_ns_;
  // Those that cross, with epoch 0, and whether they were left out.
  std::unordered_map<Channel, bool, ChannelHash> found_;
  std::size_t left_out_ = 0;
};

}  // namespace tare::reader
