#include "reader/store/rounds.h"

#include <array>
#include <cstdio>

namespace tare::reader {
namespace {

// Takes the result apart. False if it is damaged, or statistics in it are.
bool read_results(StoredRound& round) {
  if (!format::split_result(round.filter, round.reduced, round.results)) return false;
  for (const auto& [filter, reduced] : round.results) {
    if (filter != format::statistics_filter) continue;
    format::Reader in(reduced);
    if (!format::StatisticsTable::read(in, round.statistics.emplace_back())) return false;
  }
  return true;
}

}  // namespace

void RoundNames::add(format::EventKey key, std::string_view identity) {
  const format::EventName name = format::event_name(identity);
  names_[key] = {std::string(name.name), name.kind};
}

RoundEvent RoundNames::event(format::EventKey key) const {
  if (const auto found = names_.find(key); found != names_.end()) return found->second;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "event %016llx", static_cast<unsigned long long>(key));
  return {text.data(), format::EventKind::function};
}

std::array<const char*, format::metric_count> metrics_of(format::EventKind kind) {
  if (kind == format::EventKind::counter) return {"calls", nullptr, "value"};
  return {"calls", "time_ns", "bytes"};
}

void RoundReader::read(std::string_view payload, const std::function<void(const StoredRound&)>& visit) {
  format::Reader records(std::as_bytes(std::span(payload)));
  format::Reader content({});
  for (format::RoundRecord kind{}; format::next_record(records, kind, content);) {
    StoredRound round;
    switch (kind) {
      case format::RoundRecord::name:
        if (const auto key = content.get<format::EventKey>(); content.ok()) names_->add(key, content.rest_text());
        break;
      case format::RoundRecord::round:
        if (format::Round::read(content, round) && read_results(round)) visit(round);
        break;
      case format::RoundRecord::lost_round:
        if (format::Round::read_lost(content, round)) visit(round);
        break;
      case format::RoundRecord::pace:
        if (format::PaceRecord pace; format::PaceRecord::read(content, pace)) paces_.push_back(pace);
        break;
    }
  }
}

}  // namespace tare::reader
