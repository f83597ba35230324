#include "format/rank_set.h"

#include <algorithm>
#include <iterator>

namespace tare::format {

namespace {
std::uint64_t end_of(const RankSet::Run& run) { return std::uint64_t{run.first} + run.count; }
constexpr std::uint64_t past_last_rank = std::uint64_t{1} << 31U;  // ranks are of the type `int` in MPI
}  // namespace

RankSet RankSet::of_range(std::uint32_t first, std::uint32_t count) {
  RankSet ranks;
  if (count > 0) ranks.runs_.push_back({first, count});
  return ranks;
}

RankSet RankSet::of_runs(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, &Run::first);
  RankSet ranks;
  for (const Run& run : runs) ranks.append(run);
  return ranks;
}

void RankSet::append(const Run& run) {
  if (run.count == 0) return;
  if (runs_.empty() || end_of(runs_.back()) < run.first)
    runs_.push_back(run);
  else
    runs_.back().count = static_cast<std::uint32_t>(std::max(end_of(runs_.back()), end_of(run)) - runs_.back().first);
}

void RankSet::insert(std::uint32_t rank) {
  if (!runs_.empty() && runs_.back().first <= rank) {
    Run& last = runs_.back();
    if (rank < end_of(last)) return;
    if (rank == end_of(last))
      ++last.count;
    else
      runs_.push_back({rank, 1});
    return;
  }
  unite(of_range(rank, 1));
}

void RankSet::unite(const RankSet& other) {
  if (other.empty()) return;
  std::vector<Run> all;
  all.reserve(runs_.size() + other.runs_.size());
  std::merge(runs_.begin(), runs_.end(), other.runs_.begin(), other.runs_.end(), std::back_inserter(all),
             [](const Run& a, const Run& b) { return a.first < b.first; });
  runs_.clear();
  for (const Run& run : all) append(run);
}

void RankSet::remove(const RankSet& other) {
  std::vector<Run> left;
  auto hole = other.runs_.begin();
  for (const Run& run : runs_) {
    std::uint64_t at = run.first;
    while (hole != other.runs_.end() && end_of(*hole) <= at) ++hole;
    for (auto next = hole; at < end_of(run); ++next) {
      const bool is_last = next == other.runs_.end();
      const std::uint64_t until = is_last ? end_of(run) : std::min<std::uint64_t>(next->first, end_of(run));
      if (until > at) left.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(until - at)});
      if (is_last) break;
      at = std::max(until, end_of(*next));
    }
  }
  runs_ = std::move(left);
}

bool RankSet::contains(std::uint32_t rank) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), rank, [](std::uint32_t r, const Run& run) { return r < run.first; });
  return after != runs_.begin() && rank < end_of(*std::prev(after));
}

bool RankSet::overlaps(const RankSet& other) const {
  auto a = runs_.begin();
  auto b = other.runs_.begin();
  while (a != runs_.end() && b != other.runs_.end()) {
    if (end_of(*a) <= b->first)
      ++a;
    else if (end_of(*b) <= a->first)
      ++b;
    else
      return true;
  }
  return false;
}

std::uint64_t RankSet::size() const {
  std::uint64_t size = 0;
  for (const Run& run : runs_) size += run.count;
  return size;
}

std::string RankSet::text() const {
  std::string text;
  for (const Run& run : runs_) {
    if (!text.empty()) text += ',';
    text += std::to_string(run.first);
    if (run.count > 1) text += '-' + std::to_string(end_of(run) - 1);
  }
  return text;
}

void RankSet::write(Writer& out) const {
  out.put(static_cast<std::uint32_t>(runs_.size()));
  out.put_all<Run>(runs_);
}

bool RankSet::read(Reader& in, RankSet& ranks) {
  const auto count = in.get<std::uint32_t>();
  if (count > max_rank_runs || !in.get_all(ranks.runs_, count)) return in.fail();
  std::uint64_t least = 0;
  for (const Run& run : ranks.runs_) {
    if (run.count == 0 || run.first < least || end_of(run) > past_last_rank) return in.fail();
    least = end_of(run) + 1;
  }
  return true;
}

}  // namespace tare::format
