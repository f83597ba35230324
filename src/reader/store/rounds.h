// Reads the rounds of a monitored run (format/round.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/round.h"
#include "format/round_statistics.h"

namespace tare::reader {

struct RoundEvent {
  std::string name;
  format::EventKind kind = format::EventKind::function;
};

// What the payloads that were read so far call events.
class RoundNames {
 public:
  void add(format::EventKey key, std::string_view identity);
  // If the payloads do not name the key, the name is made of its number.
  RoundEvent event(format::EventKey key) const;

 private:
  std::unordered_map<format::EventKey, RoundEvent> names_;
};

// The names of the three metrics of an event; nullptr for a number that it does not have.
std::array<const char*, format::metric_count> metrics_of(format::EventKind kind);
// The place of the metric that is shown where there is room for one.
constexpr std::size_t main_metric(format::EventKind kind) { return kind == format::EventKind::counter ? 2 : 1; }

struct StoredRound : format::Round {
  std::vector<format::FilterResult> results;        // of each filter; none of a lost round
  std::vector<format::StatisticsTable> statistics;  // those of them that the filter `statistics` made
};

// Reads the payloads of the chunks of one file, which must be passed in their order.
class RoundReader {
 public:
  // Calls `visit` for each round of a payload, lost ones too. The round is valid during the call. Damaged rounds are
  // left out.
  void read(std::string_view payload, const std::function<void(const StoredRound&)>& visit);
  const std::shared_ptr<const RoundNames>& names() const { return shown_; }
  // The decisions of `--monitor=auto` in the payloads so far.
  const std::vector<format::PaceRecord>& paces() const { return paces_; }

 private:
  std::shared_ptr<RoundNames> names_ = std::make_shared<RoundNames>();
  std::shared_ptr<const RoundNames> shown_ = names_;
  std::vector<format::PaceRecord> paces_;
};

}  // namespace tare::reader
