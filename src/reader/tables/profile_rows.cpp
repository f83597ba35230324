#include "reader/tables/profile_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "format/function_meaning.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using format::CallClass;
using format::CallForm;

std::string line_of(const FrameInfo& frame, const std::string& tail_call) {
  // Frames of imported traces have no address. The name of the caller distinguishes them.
  const std::string line = frame.at.object + '\0' + frame.symbol.caller + '\0';
  if (frame.symbol.file.empty() || frame.symbol.line == 0) return line + '+' + std::to_string(frame.at.address);
  return line + frame.symbol.file + '\0' + std::to_string(frame.symbol.line) + '\0' + tail_call;
}

std::string line_at(const SiteInfo& site, std::size_t at, const std::vector<FrameInfo>& frames) {
  return line_of(frames[static_cast<std::size_t>(site.path[at])],
                 site.tail_calls.empty() ? std::string() : site.tail_calls[at]);
}

std::string lines_of(const SiteInfo& site, const std::vector<FrameInfo>& frames) {
  std::string lines = std::to_string(site.flags & (format::path_cut | format::frames_left_out));
  for (std::size_t at = 0; at < site.path.size(); ++at) lines += '\1' + line_at(site, at, frames);
  return lines;
}

// For each site, the index of the first site with an equal key. Calls with the same lines on their paths are one site,
// even if the compiler made several copies of the code of a line.
template <class Key>
std::vector<std::int32_t> first_equal(Run& run, const Key& key) {
  std::map<std::string, std::int32_t> first;
  std::vector<std::int32_t> numbers;
  const std::vector<SiteInfo>& sites = run.sites();
  numbers.reserve(sites.size());
  for (const SiteInfo& site : sites)
    numbers.push_back(first.try_emplace(key(site), static_cast<std::int32_t>(numbers.size())).first->second);
  return numbers;
}

std::vector<std::int32_t> equal_paths(Run& run) {
  return first_equal(run, [&](const SiteInfo& site) { return lines_of(site, run.frames()); });
}

std::vector<std::int32_t> equal_places(Run& run) {
  return first_equal(run, [&](const SiteInfo& site) { return line_at(site, site.shown, run.frames()); });
}

// Whether it is a blocking collective: ranks that enter it early wait for the last one.
bool is_collective(unsigned function) {
  const format::FunctionMeaning& means = format::meaning_of(function);
  return means.kind == CallClass::collective && means.form == CallForm::blocking;
}

std::vector<std::string> names_of(const FunctionNames& functions, bool (*is_wanted)(unsigned)) {
  std::vector<std::string> names;
  for (unsigned number = 0; number < functions.names().size(); ++number)
    if (is_wanted(number)) names.push_back(functions.names()[number]);
  return names;
}

SumsQuery query_of(Run& run, const ProfileKeys& keys, const Wanted& ranks) {
  SumsQuery query{.world = true,
                  .rank = keys.rank,
                  .function = keys.has_function(),
                  .site = keys.has_place(),
                  .communicator = keys.communicator,
                  .size_class = keys.size};
  query.site_of = keys.line && !keys.site ? equal_places(run) : equal_paths(run);
  query.ranks = ranks;
  if (!keys.has_function())
    query.untimed =
        names_of(run.functions(), [](unsigned number) { return format::meaning_of(number).bounds_net_time; });
  return query;
}

// The query for the imbalance of collectives. It groups by site and communicator as well, because ranks at different
// sites or on different communicators do not wait for each other.
SumsQuery finest_of(Run& run, const ProfileKeys& keys, const SumsQuery& query) {
  SumsQuery finest = query;
  finest.function = finest.site = finest.communicator = true;
  finest.size_class = keys.size;
  finest.site_of = equal_paths(run);
  finest.functions = names_of(run.functions(), is_collective);
  return finest;
}

// The key of the row to which a row of the finer query belongs.
SumKey row_key(const SumKey& finest, const SumsQuery& query) {
  SumKey key;
  key.world = finest.world;
  if (query.function) key.function = finest.function;
  if (query.site) key.site = finest.site < 0 ? -1 : query.site_of[static_cast<std::size_t>(finest.site)];
  if (query.communicator) key.communicator = finest.communicator;
  if (query.size_class) key.size_class = finest.size_class;
  return key;
}

// The imbalance of each row: the time of each rank beyond that of the rank with the least time, summed over the ranks.
std::map<SumKey, std::int64_t> imbalances(const std::vector<ProfileSum>& finest, const SumsQuery& query) {
  std::map<SumKey, std::int64_t> found;
  for (const ProfileSum& of : finest) {
    if (of.ranks <= 0) continue;
    std::int64_t& imbalance = found[row_key(of.key, query)];
    imbalance = sum(imbalance, difference(of.time_ns, product(of.ranks, of.rank_time_min_ns)));
  }
  return found;
}

// The error of a total that was estimated by simple random sampling (Cochran, Sampling Techniques, 3rd ed., section
// 2.6). Nothing for polls, because those that were timed are no random sample.
std::optional<std::int64_t> time_error_ns(const ProfileSum& of) {
  constexpr double normal_95 = 1.96;
  const auto calls = static_cast<double>(of.timed_calls);
  const auto estimated = static_cast<double>(of.estimated);
  const double sampled = calls - estimated;
  if (of.estimated == 0 || sampled < 2 || format::meaning_of(of.key.function).is_poll) return std::nullopt;
  const double mean = static_cast<double>(of.time_ns) / calls;
  const double variance = std::max(0.0, of.squared_ns2 / calls - mean * mean);
  return std::llrint(normal_95 * calls * std::sqrt(estimated / calls * variance / sampled));
}

}  // namespace

std::vector<ProfileRowSum> profile_rows(Run& run, const ProfileKeys& keys, const Wanted& ranks) {
  const SumsQuery query = query_of(run, keys, ranks);
  Questions questions;
  questions.sums.push_back(query);
  if (!keys.rank) questions.sums.push_back(finest_of(run, keys, query));
  Answers answers = run.answer(questions);
  std::map<SumKey, std::int64_t> waited;
  if (!keys.rank) waited = imbalances(answers.sums.back(), query);
  std::vector<ProfileRowSum> rows;
  for (ProfileSum& sum : answers.sums.front()) {
    ProfileRowSum& row = rows.emplace_back(ProfileRowSum{sum, {}, {}});
    if (keys.has_function()) row.time_error_ns = time_error_ns(sum);
    if (const auto found = waited.find(sum.key); found != waited.end()) row.imbalance_ns = found->second;
  }
  return rows;
}

}  // namespace tare::reader
