#include "reader/structure/rank_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "format/event_columns.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// Time between two calls that is no computation of the program: a gap in the trace, or a write of the event buffer.
struct Break {
  std::int64_t from_ns, to_ns;
  bool is_gap;
};

std::vector<std::int32_t> first_sites(const std::vector<SiteInfo>& sites) {
  std::map<std::tuple<std::string, std::uint64_t>, std::int32_t> known;
  std::vector<std::int32_t> first;
  for (const SiteInfo& site : sites) {
    const bool has_line = site.symbol.line != 0;
    const auto key = std::make_tuple(has_line ? site.symbol.file : site.at.object,
                                     has_line ? std::uint64_t{site.symbol.line} : site.at.address);
    first.push_back(known.emplace(key, static_cast<std::int32_t>(first.size())).first->second);
  }
  return first;
}

std::uint64_t events_of(const std::vector<ChunkRef>& chunks) {
  std::uint64_t events = 0;
  for (const ChunkRef& chunk : chunks) events += chunk.header.records;
  return events;
}

std::uint32_t number_of(const CalledLine& of, std::map<CalledLine, std::uint32_t>& numbers,
                        std::vector<CalledLine>& all) {
  const auto [at, is_new] = numbers.emplace(of, static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(of);
  return at->second;
}

}  // namespace

Result<RankCalls> RankCalls::of(Run& run) {
  RankCalls made;
  made.run_ = &run;
  made.first_site_ = first_sites(run.sites());
  made.outside_ = outside_net_time(run.functions());
  auto chunks = EventChunks::of(run);
  if (!chunks) return chunks.failure();
  made.chunks_ = std::make_unique<EventChunks>(std::move(*chunks));
  std::set<std::pair<const Process*, std::uint32_t>> in_mpi;
  for (const Location& of : run.locations())
    if (of.totals.net_ticks != 0) in_mpi.emplace(&run.processes()[of.process], of.block);
  using Weight = std::pair<bool, std::uint64_t>;  // whether it calls MPI; events
  std::map<const Process*, std::pair<Weight, std::size_t>> known;
  for (const EventChunks::Block& block : made.chunks_->blocks) {
    if (block.chunks.empty() || is_of_tared(block.chunks.front().header.block) || block.process->record.rank < 0)
      continue;
    Rank rank{block.process, block.chunks.back().header.location, {}};
    for (const ChunkRef& chunk : block.chunks) rank.chunks.push_back(&chunk);
    const Weight weight(in_mpi.contains({block.process, block.chunks.front().header.block}), events_of(block.chunks));
    const auto [at, is_new] = known.emplace(block.process, std::pair(weight, made.ranks_.size()));
    auto& [most, number] = at->second;
    if (is_new)
      made.ranks_.push_back(std::move(rank));
    else if (weight > most) {
      most = weight;
      made.ranks_[number] = std::move(rank);
    }
  }
  return made;
}

void RankCalls::read(std::size_t rank, RankLines& lines, const Some& some) const {
  const Process& process = *ranks_[rank].process;
  const std::uint32_t thread = ranks_[rank].thread;
  std::map<CalledLine, std::uint32_t> line_numbers, path_numbers;
  std::vector<char> raw;
  EventColumns columns;
  std::vector<std::uint64_t> ticks;
  std::vector<std::int64_t> start_ns, duration_ns;
  std::vector<std::uint32_t> line_of_signature, path_of_signature;
  std::vector<Break> breaks;  // breaks before the next call
  std::vector<RankCall> calls;
  std::int64_t last_end_ns = INT64_MIN, lost_ns = 0, last_lost_ns = 0;
  for (const ChunkRef* ref : ranks_[rank].chunks) {
    std::string reason;
    if (!load_chunk(*ref, raw, reason) || !decode_columns(ref->header, raw.data(), raw.size(), columns, reason)) {
      last_end_ns = INT64_MIN;  // the calls of this chunk are not known
      continue;
    }
    const auto& signatures = columns.signatures;
    line_of_signature.resize(signatures.function.size());
    path_of_signature.resize(signatures.function.size());
    for (std::size_t i = 0; i < line_of_signature.size(); ++i) {
      const std::int32_t site = process.sites.find(static_cast<std::uint32_t>(signatures.site[i]));
      const CalledLine path{
          FunctionNames::lookup(*process.functions, static_cast<std::uint16_t>(signatures.function[i])), site};
      const CalledLine line{path.function, site < 0 ? -1 : first_site_[static_cast<std::size_t>(site)]};
      line_of_signature[i] = number_of(line, line_numbers, lines.lines);
      path_of_signature[i] = number_of(path, path_numbers, lines.paths);
    }
    const std::size_t n = columns.calls.enter.size();
    ticks.resize(n);
    start_ns.resize(n);
    duration_ns.resize(n);
    for (std::size_t i = 0; i < n; ++i) ticks[i] = columns.calls.enter[i] << process.shift();
    process.clock.unix_ns(ticks.data(), n, start_ns.data());
    for (std::size_t i = 0; i < n; ++i)
      duration_ns[i] = process.clock.duration_ns(columns.calls.duration[i] << process.shift());
    process.move(thread, start_ns.data(), duration_ns.data(), n);
    const auto add_break = [&](const DecodedSpan& span, bool is_gap) {
      breaks.push_back({process.shown(thread, process.time_of(span.enter)),
                        process.shown(thread, process.time_of(span.leave)), is_gap});
    };
    for (const DecodedSpan& loss : columns.losses) add_break(loss, true);
    for (const DecodedSpan& flush : columns.flushes) add_break(flush, false);
    std::sort(breaks.begin(), breaks.end(), [](const Break& x, const Break& y) { return x.from_ns < y.from_ns; });
    std::size_t next_break = 0;
    calls.clear();
    for (std::size_t i = 0; i < n; ++i) {
      RankCall call;
      call.start_ns = start_ns[i];
      call.end_ns = sum(start_ns[i], std::max<std::int64_t>(duration_ns[i], 0));
      const auto signature = static_cast<std::size_t>(columns.calls.signature[i]);
      call.line = line_of_signature[signature];
      call.path = path_of_signature[signature];
      call.is_outside = outside_[lines.lines[call.line].function];
      for (; next_break < breaks.size() && breaks[next_break].from_ns < call.end_ns; ++next_break) {
        const Break& of = breaks[next_break];
        lost_ns = sum(lost_ns, std::max<std::int64_t>(difference(of.to_ns, of.from_ns), 0));
        if (!of.is_gap) continue;
        call.is_behind_gap = true;
        last_end_ns = std::max(last_end_ns, of.to_ns);
        last_lost_ns = lost_ns;
      }
      call.lost_ns = lost_ns;
      if (last_end_ns != INT64_MIN)
        call.before_ns = std::max<std::int64_t>(
            difference(difference(call.start_ns, last_end_ns), difference(lost_ns, last_lost_ns)), 0);
      last_lost_ns = lost_ns;
      last_end_ns = std::max(last_end_ns, call.end_ns);
      calls.push_back(call);
    }
    breaks.erase(breaks.begin(), breaks.begin() + static_cast<std::ptrdiff_t>(next_break));
    some(calls);
  }
}

}  // namespace tare::reader
