#include "bindings/sums.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bindings/convert.h"
#include "bindings/text.h"

namespace tare::bindings {
namespace {

reader::SumsQuery sums_query(const nb::dict& wanted) {
  reader::SumsQuery query;
  const std::map<std::string_view, bool*> keys = {{"world", &query.world},
                                                  {"rank", &query.rank},
                                                  {"function", &query.function},
                                                  {"site", &query.site},
                                                  {"communicator", &query.communicator},
                                                  {"size_class", &query.size_class}};
  using Names = std::vector<std::string>;
  for (const auto& [key, value] : wanted) {
    const auto name = nb::cast<std::string>(key);
    if (name == "by") {
      for (const std::string& part : nb::cast<Names>(value)) {
        const auto found = keys.find(part);
        if (found == keys.end()) throw nb::value_error(("profiles are not summed by " + part).c_str());
        *found->second = true;
      }
    } else if (name == "worlds") {
      query.worlds = nb::cast<Numbers>(value);
    } else if (name == "ranks") {
      query.ranks = nb::cast<Numbers>(value);
    } else if (name == "communicators") {
      query.communicators = nb::cast<Numbers>(value);
    } else if (name == "functions") {
      query.functions = nb::cast<Names>(value);
    } else if (name == "without") {
      query.without = nb::cast<Names>(value);
    } else if (name == "site_of") {
      query.site_of = nb::cast<Numbers>(value);
    } else if (name == "communicator_of") {
      query.communicator_of = nb::cast<Numbers>(value);
    } else {
      throw nb::value_error(("no part of a query: " + name).c_str());
    }
  }
  return query;
}

nb::dict sum_dict(const reader::ProfileSum& sum, const reader::SumsQuery& query, const std::vector<nb::object>& names) {
  nb::dict row;
  if (query.world) row["world"] = sum.key.world;
  if (query.rank) row["rank"] = sum.key.rank;
  if (query.function) row["function"] = names[sum.key.function];
  if (query.site) row["site"] = sum.key.site;
  if (query.communicator) row["communicator"] = sum.key.communicator;
  if (query.size_class) row["size_class"] = sum.key.size_class;
  row["calls"] = sum.calls;
  row["timed_calls"] = sum.timed_calls;
  row["estimated_calls"] = sum.estimated;
  row["time_ns"] = sum.time_ns;
  row["min_ns"] = sum.min_ns;
  row["max_ns"] = sum.max_ns;
  row["squared_ns2"] = sum.squared_ns2;
  row["bytes"] = sum.bytes;
  row["received"] = sum.received;
  row["waited_ns"] = sum.waited_ns;
  row["ranks"] = sum.ranks;
  row["rank_time_min_ns"] = sum.rank_time_min_ns;
  row["rank_time_min_at"] = sum.rank_time_min_at;
  row["rank_time_max_ns"] = sum.rank_time_max_ns;
  row["rank_time_max_at"] = sum.rank_time_max_at;
  return row;
}

reader::TablesQuery tables_query(const std::vector<std::string>& by, std::optional<Numbers> worlds,
                                 std::optional<Numbers> ranks, std::optional<Numbers> communicators) {
  const auto has = [&](const char* key) { return std::find(by.begin(), by.end(), key) != by.end(); };
  return {has("rank"), has("communicator"), std::move(worlds), std::move(ranks), std::move(communicators)};
}

}  // namespace

nb::list profile_sums(reader::Run& run, const std::vector<nb::dict>& wanted) {
  std::vector<reader::SumsQuery> queries;
  queries.reserve(wanted.size());
  for (const nb::dict& query : wanted) queries.push_back(sums_query(query));
  const auto sums = [&] {
    const nb::gil_scoped_release unlocked;
    return run.all_profile_sums(queries);
  }();
  const std::vector<nb::object> names = function_texts(run.functions());
  nb::list all;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    nb::list rows;
    for (const reader::ProfileSum& sum : sums[i]) rows.append(sum_dict(sum, queries[i], names));
    all.append(rows);
  }
  return all;
}

nb::list peer_sums(reader::Run& run, const std::vector<std::string>& by, std::optional<Numbers> worlds,
                   std::optional<Numbers> ranks, std::optional<Numbers> communicators) {
  const reader::TablesQuery query = tables_query(by, std::move(worlds), std::move(ranks), std::move(communicators));
  const auto sums = [&] {
    const nb::gil_scoped_release unlocked;
    return run.peers(query);
  }();
  nb::list rows;
  for (const reader::PeerSum& sum : sums) {
    nb::dict row;
    row["world"] = sum.world;
    if (query.rank) row["rank"] = sum.rank;
    if (query.communicator) row["communicator"] = sum.communicator;
    row["peer"] = sum.peer;
    row["sent_messages"] = sum.sent_messages;
    row["sent_bytes"] = sum.sent_bytes;
    row["received_messages"] = sum.received_messages;
    row["received_bytes"] = sum.received_bytes;
    row["ranks"] = sum.ranks;
    rows.append(row);
  }
  return rows;
}

nb::list phase_sums(reader::Run& run, const std::vector<std::string>& by, std::optional<Numbers> worlds,
                    std::optional<Numbers> ranks) {
  const reader::TablesQuery query = tables_query(by, std::move(worlds), std::move(ranks), {});
  const auto sums = [&] {
    const nb::gil_scoped_release unlocked;
    return run.phases(query);
  }();
  nb::list rows;
  for (const reader::PhaseSum& sum : sums) {
    nb::dict row;
    row["world"] = sum.world;
    if (query.rank) row["rank"] = sum.rank;
    row["phase"] = nb::none();
    if (sum.type >= 0) row["phase"] = escaped_text(run.event_types()[static_cast<std::size_t>(sum.type)].name);
    row["outside"] = sum.outside;
    row["entries"] = sum.entries;
    row["time_ns"] = sum.time_ns;
    row["mpi_ns"] = sum.mpi_ns;
    row["calls"] = sum.calls;
    row["bytes"] = sum.bytes;
    row["ranks"] = sum.ranks;
    row["rank_min_ns"] = sum.rank_min_ns;
    row["rank_max_ns"] = sum.rank_max_ns;
    row["rank_max"] = sum.longest;
    rows.append(row);
  }
  return rows;
}

}  // namespace tare::bindings
