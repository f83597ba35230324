#include "reader/tables/profile_table.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reader/events/row_table.h"

namespace tare::reader {
namespace {

// The bytes of a call of the class: from the first to below the second.
rows::SizeKey size_of(std::int16_t size_class) {
  if (size_class < 0) return {};
  return {.size_from = size_class == 0 ? 0 : std::int64_t{1} << std::min<int>(size_class - 1, 62),
          .size_to = size_class >= 63 ? INT64_MAX : std::int64_t{1} << size_class};
}

std::optional<std::int64_t> pid_of(const SumKey& key, const Run& run) {
  if (key.process < 0 || key.rank >= 0) return std::nullopt;
  return run.processes()[static_cast<std::size_t>(key.process)].record.pid;
}

rows::Profile row_of(const ProfileRowSum& of, const Run& run, const RunTexts& texts) {
  const ProfileSum& sum = of.sum;
  const SumKey& key = sum.key;
  const bool is_timed = sum.timed_calls > 0, has_ranks = sum.ranks > 0, has_communicator = key.communicator >= 0;
  const auto mean = [&](auto calls) { return static_cast<double>(sum.time_ns) / static_cast<double>(calls); };
  // A quantity over single ranks; nothing if no rank made a timed call.
  const auto over_ranks = [&](auto value) { return has_ranks ? std::optional(value) : std::nullopt; };
  return {
      .world = key.world,
      .site_key = {.function = texts.function(key.function),
                   .site = {if_known(key.site)},
                   .place = texts.place(key.site),
                   .path = texts.path(key.site)},
      .communicator_key = {.communicator = texts.communicator(key.communicator).communicator,
                           .communicator_size =
                               has_communicator
                                   ? std::optional(run.communicators()[static_cast<std::size_t>(key.communicator)].size)
                                   : std::nullopt,
                           .communicator_number = if_known(key.communicator)},
      .size_key = size_of(key.size_class),
      .rank_key = {key.rank, pid_of(key, run)},
      .calls = as_int64(sum.calls),
      .time_ns = sum.time_ns,
      .mean_ns = is_timed ? mean(sum.timed_calls) : 0.0,
      .min_ns = sum.min_ns,
      .max_ns = sum.max_ns,
      .bytes = saturated(sum.bytes),
      .received = saturated(sum.received),
      .waited_ns = sum.waited_ns,
      .timed = is_timed,
      .estimated_calls = as_int64(sum.estimated),
      .time_error_ns = of.time_error_ns,
      .counted = as_int64(sum.counted),
      .ranks = over_ranks(static_cast<std::int32_t>(sum.ranks)),
      .rank_mean_ns = over_ranks(mean(sum.ranks)),
      .rank_min_ns = over_ranks(sum.rank_time_min_ns),
      .rank_min = over_ranks(sum.rank_time_min_at),
      .rank_max_ns = over_ranks(sum.rank_time_max_ns),
      .rank_max = over_ranks(sum.rank_time_max_at),
      .imbalance_ns = of.imbalance_ns,
      .of_whole_run = {of.whole.calls, of.whole.calls_error, of.whole.time_ns, of.whole.time_error_ns, of.whole.bytes,
                       of.whole.bytes_error},
      .mpi_share = of.mpi_share};
}

// The columns of the keys, in their order, and of the figures that such rows have. A column that several keys have is
// at the place of the first.
std::vector<DeclaredColumn> columns_of(const std::vector<ProfileKey>& by, const ProfileKeys& keys) {
  using Names = std::vector<std::string_view>;
  const Names place{"function", "site", "file", "line", "caller", "object", "offset", "tail_call"};
  const Names of_whole_run{"whole_calls",         "whole_calls_error", "whole_time_ns",
                           "whole_time_error_ns", "whole_bytes",       "whole_bytes_error"};
  Names names;
  const auto add = [&names](const Names& more) {
    for (const std::string_view name : more)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  add({"world"});
  for (const ProfileKey key : by) {
    if (key == ProfileKey::site || key == ProfileKey::line) add(place);
    if (key == ProfileKey::site) add({"path"});
    if (key == ProfileKey::function) add({"function"});
    if (key == ProfileKey::size) add({"size_from", "size_to"});
    if (key == ProfileKey::communicator) add({"communicator", "communicator_size", "communicator_number"});
    if (key == ProfileKey::rank) add({"rank", "pid"});
  }
  add({"calls", "time_ns", "mean_ns", "min_ns", "max_ns", "bytes", "received", "waited_ns", "timed", "estimated_calls",
       "time_error_ns", "counted"});
  if (!keys.rank) add({"ranks", "rank_mean_ns", "rank_min_ns", "rank_min", "rank_max_ns", "rank_max", "imbalance_ns"});
  if (keys.has_function()) add(of_whole_run);
  if (keys.is_rank_alone()) add({"mpi_share"});
  return columns_named(rows::Profile::columns(), names);
}

}  // namespace

ProfileKeys keys_of(const std::vector<ProfileKey>& by) {
  const auto has = [&](ProfileKey key) { return std::find(by.begin(), by.end(), key) != by.end(); };
  return {has(ProfileKey::site), has(ProfileKey::line),         has(ProfileKey::function),
          has(ProfileKey::size), has(ProfileKey::communicator), has(ProfileKey::rank)};
}

std::optional<ProfileKey> profile_key(const std::string& name) {
  constexpr std::array<std::string_view, 6> names = {"site", "line", "function", "size", "communicator", "rank"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ProfileKey>(found - names.begin());
}

Result<TableStream> profile_table(Run& run, const std::vector<ProfileKey>& by, const ProfileChoice& choice) {
  const ProfileKeys keys = keys_of(by);
  const SiteTexts sites = keys.site ? SiteTexts::paths : keys.line ? SiteTexts::lines : SiteTexts::none;
  const RunTexts texts(run, sites);
  std::vector<rows::Profile> rows;
  for (const ProfileRowSum& row : profile_rows(run, keys, choice)) rows.push_back(row_of(row, run, texts));
  return stored_table(std::move(rows), texts, columns_of(by, keys));
}

Result<TableStream> profile_table(Run& run) {
  return profile_table(run, {ProfileKey::site, ProfileKey::communicator, ProfileKey::size}, {});
}

}  // namespace tare::reader
