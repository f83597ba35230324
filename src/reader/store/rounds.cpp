#include "reader/store/rounds.h"

#include <array>
#include <cstdio>

#include "format/filter_names.h"

namespace tare::reader {
namespace {

// Kinds of records.
constexpr std::uint32_t name_record = 1, round_record = 2;
// After the times of a round: what its reduction cost. Tables do not show it.
constexpr std::size_t cost_bytes = 32;

RoundEvent named(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, RoundEventKind>, 3> kinds = {
      {{"region ", RoundEventKind::region}, {"phase ", RoundEventKind::phase}, {"counter ", RoundEventKind::counter}}};
  for (const auto& [prefix, kind] : kinds)
    if (text.starts_with(prefix)) return {std::string(text.substr(prefix.size())), kind};
  return {std::string(text), RoundEventKind::function};
}

std::vector<std::pair<std::string_view, std::string_view>> parts_of(std::string_view filter, RoundBytes& source) {
  const auto names = format::split_filters(filter);
  if (names.size() == 1) return {{filter, source.rest()}};
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  for (const std::string_view name : names) parts.emplace_back(name, source.text());
  return parts;
}

}  // namespace

std::uint64_t RankRuns::count() const {
  std::uint64_t all = 0;
  for (const auto& [first, count] : runs) all += count;
  return all;
}

std::string RankRuns::text() const {
  std::string all;
  for (const auto& [first, count] : runs) {
    if (!all.empty()) all += ',';
    all += std::to_string(first);
    if (count != 1) all += "-" + std::to_string(std::int64_t{first} + count - 1);
  }
  return all;
}

std::string_view RoundBytes::take(std::uint64_t size) {
  if (size > left_.size()) fail();
  if (failed_) return {};
  const std::string_view taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

RankRuns RoundBytes::ranks() {
  const std::vector<std::uint32_t> flat = numbers<std::uint32_t>(2 * std::uint64_t{number<std::uint32_t>()});
  RankRuns ranks;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) ranks.runs.emplace_back(flat[i], flat[i + 1]);
  return ranks;
}

void RoundReader::read(std::string_view payload, const std::function<void(const StoredRound&)>& visit) {
  RoundBytes records(payload);
  while (true) {
    const auto kind = records.number<std::uint32_t>();
    const auto size = records.number<std::uint32_t>();
    const std::string_view content = records.take(size);
    if (records.has_failed()) return;
    RoundBytes source(content);
    if (kind == name_record) {
      const auto key = source.number<std::uint64_t>();
      if (!source.has_failed()) names_[key] = named(source.rest());
    } else if (kind == round_record) {
      StoredRound round;
      round.round = source.number<std::uint64_t>();
      round.first_ns = source.number<std::int64_t>();
      round.last_ns = source.number<std::int64_t>();
      round.arrived_ns = source.number<std::int64_t>();
      source.take(cost_bytes);
      round.ranks = source.ranks();
      round.lost = source.ranks();
      const std::string_view filter = source.text();
      round.parts = parts_of(filter, source);
      if (!source.has_failed()) visit(round);
    }
  }
}

RoundEvent RoundReader::event(std::uint64_t key) const {
  if (const auto found = names_.find(key); found != names_.end()) return found->second;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "event %016llx", static_cast<unsigned long long>(key));
  return {text.data(), RoundEventKind::function};
}

}  // namespace tare::reader
