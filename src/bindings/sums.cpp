#include "bindings/sums.h"

#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/convert.h"
#include "bindings/text.h"

namespace tare::bindings {
namespace {

using Numbers = std::vector<std::int32_t>;

constexpr std::int32_t max_groups = 1024;  // the square of this is allocated

// The part of a query that chooses rows, if `name` is one.
template <class Query>
bool chooses(Query& query, const std::string& name, nb::handle value) {
  auto* chosen = name == "worlds"          ? &query.worlds
                 : name == "ranks"         ? &query.ranks
                 : name == "communicators" ? &query.communicators
                                           : nullptr;
  if (chosen != nullptr) *chosen = nb::cast<Numbers>(value);
  return chosen != nullptr;
}

}  // namespace

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
    } else if (chooses(query, name, value)) {
      continue;
    } else if (name == "functions") {
      query.functions = nb::cast<Names>(value);
    } else if (name == "untimed") {
      query.untimed = nb::cast<Names>(value);
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

namespace {

nb::dict sum_dict(const reader::ProfileSum& sum, const reader::SumsQuery& query, const std::vector<nb::object>& names) {
  nb::dict row;
  if (query.world) row["world"] = sum.key.world;
  if (query.rank) row["rank"] = sum.key.rank;
  if (query.function) row["function"] = names[sum.key.function];
  if (query.site) row["site"] = sum.key.site;
  if (query.communicator) row["communicator"] = sum.key.communicator;
  if (query.size_class) row["size_class"] = sum.key.size_class;
  row["calls"] = sum.calls;
  row["counted"] = sum.counted;
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

reader::TablesQuery tables_query(const nb::dict& wanted) {
  reader::TablesQuery query;
  for (const auto& [key, value] : wanted) {
    const auto name = nb::cast<std::string>(key);
    if (name == "by") {
      for (const std::string& part : nb::cast<std::vector<std::string>>(value)) {
        if (part == "rank")
          query.rank = true;
        else if (part == "communicator")
          query.communicator = true;
        else
          throw nb::value_error(("peers and phases are not summed by " + part).c_str());
      }
    } else if (!chooses(query, name, value)) {
      throw nb::value_error(("no part of a query: " + name).c_str());
    }
  }
  return query;
}

reader::Questions asked(const nb::dict& wanted) {
  reader::Questions questions;
  for (const auto& [key, value] : wanted) {
    const auto kind = nb::cast<std::string>(key);
    for (const nb::handle each : nb::cast<nb::list>(value)) {
      if (kind == "profile")
        questions.sums.push_back(sums_query(nb::cast<nb::dict>(each)));
      else if (kind == "peers")
        questions.peers.push_back(tables_query(nb::cast<nb::dict>(each)));
      else if (kind == "phases")
        questions.phases.push_back(tables_query(nb::cast<nb::dict>(each)));
      else if (kind != "exchanges")
        throw nb::value_error(("no kind of question: " + kind).c_str());
      else if (const auto most = nb::cast<std::int32_t>(each); most >= 1 && most <= max_groups)
        questions.exchanges.push_back(most);
      else
        throw nb::value_error("an exchange is of 1 to 1024 groups");
    }
  }
  return questions;
}

nb::dict peer_dict(const reader::PeerSum& sum, const reader::TablesQuery& query) {
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
  return row;
}

nb::dict phase_dict(const reader::PhaseSum& sum, const reader::TablesQuery& query, const reader::Run& run) {
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
  return row;
}

nb::dict exchange_dict(const reader::Exchange& exchange) {
  nb::list cells;
  for (const reader::Exchange::Cell& cell : exchange.cells)
    cells.append(nb::make_tuple(cell.from, cell.to, cell.messages, cell.bytes));
  nb::dict row;
  row["world"] = exchange.world;
  row["size"] = exchange.size;
  row["group"] = exchange.group;
  row["cells"] = cells;
  row["elsewhere"] = exchange.elsewhere;
  row["messages"] = exchange.messages;
  row["between"] = exchange.between;
  row["busiest"] = exchange.busiest;
  row["busiest_messages"] = exchange.busiest_messages;
  return row;
}

// A list of rows for each answer.
template <typename Row, typename Make>
nb::list rows_of(const std::vector<std::vector<Row>>& answers, const Make& make) {
  nb::list all;
  for (std::size_t question = 0; question < answers.size(); ++question) {
    nb::list rows;
    for (const Row& row : answers[question]) rows.append(make(row, question));
    all.append(rows);
  }
  return all;
}

}  // namespace

nb::dict sums(reader::Run& run, const nb::dict& wanted) {
  const reader::Questions questions = asked(wanted);
  const auto answers = [&] {
    const nb::gil_scoped_release unlocked;
    return run.answer(questions);
  }();
  const std::vector<nb::object> names = function_texts(run.functions());
  nb::dict found;
  found["profile"] = rows_of(answers.sums, [&](const reader::ProfileSum& sum, std::size_t question) {
    return sum_dict(sum, questions.sums[question], names);
  });
  found["peers"] = rows_of(answers.peers, [&](const reader::PeerSum& sum, std::size_t question) {
    return peer_dict(sum, questions.peers[question]);
  });
  found["phases"] = rows_of(answers.phases, [&](const reader::PhaseSum& sum, std::size_t question) {
    return phase_dict(sum, questions.phases[question], run);
  });
  found["exchanges"] =
      rows_of(answers.exchanges, [](const reader::Exchange& exchange, std::size_t) { return exchange_dict(exchange); });
  return found;
}

}  // namespace tare::bindings
