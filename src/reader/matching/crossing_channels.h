// Channels whose messages are sent before a passage and received after it.
//
// Behind a gap in a trace, the messages of a channel are numbered anew from a passage that all ranks make
// (trace_gaps.h). That is only right if every message sent before this passage is also received before it. MPI does not
// demand that, and what happened in the gap is not recorded. But a program tends to do the same again and again. So
// after one message of a channel has been seen to cross a passage, its messages behind gaps are not matched any more.
//
// Three things show it: the parts of the message lie in different spells; the message is received before it is sent, or
// has a different size there, because the parts belong to different messages. If a program shows none of them, messages
// of its spells can be mistaken for one another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
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

  bool have_any() const { return !found_.empty(); }
  // `of`: of any epoch.
  bool has(const Channel& of) const { return have_any() && found_.contains(in_no_epoch(of)); }
  // Looks at the two parts of a message of a world, as far as they are known. Returns has(of).
  bool look_at(const Channel& of, std::int32_t world, const Part& sent, const Part& received);

 private:
  static Channel in_no_epoch(Channel of) {
    of.epoch = 0;
    return of;
  }
  // The number of spells of a rank that have begun at a time; nothing behind the last known spell.
  std::optional<std::size_t> spells_until(std::int32_t world, std::int32_t rank, std::int64_t time_ns) const;

  // By world and rank: the begins of its spells, and at last the end of the last one.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int64_t>> begins_ns_;
  std::unordered_set<Channel, ChannelHash> found_;
};

}  // namespace tare::reader
