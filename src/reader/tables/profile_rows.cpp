#include "reader/tables/profile_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "format/function_meaning.h"
#include "reader/events/row_table.h"
#include "reader/model/account.h"
#include "reader/model/quantiles.h"
#include "reader/profile/function_totals.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using format::CallClass;
using format::CallForm;
using format::meaning_of;
using format::Waits;

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
  const format::FunctionMeaning& means = meaning_of(function);
  return means.kind == CallClass::collective && means.form == CallForm::blocking;
}

bool has(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

template <class Predicate>
std::vector<std::string> names_of(const FunctionNames& functions, const Predicate& is_wanted) {
  std::vector<std::string> names;
  for (unsigned number = 0; number < functions.names().size(); ++number)
    if (is_wanted(number)) names.push_back(functions.names()[number]);
  return names;
}

bool is_chosen(const FunctionNames& functions, unsigned number, const ProfileChoice& choice) {
  return !choice.functions || has(*choice.functions, functions.names()[number]);
}

bool is_of_mpi(const FunctionNames& functions, unsigned number) {
  return functions.is_of_mpi(static_cast<std::uint16_t>(number));
}

// Whether rows that are of several functions have the calls of this one. Communicators and the net time of ranks are
// MPI's alone. What contains the program, and so other calls, is summed with these only if it is asked for by name.
bool may_be_with_others(const FunctionNames& functions, unsigned number, const ProfileKeys& keys,
                        const ProfileChoice& choice) {
  if (is_of_mpi(functions, number)) return true;
  if (keys.communicator) return false;
  return choice.functions || (keys.size && meaning_of(number).waits != Waits::nobody);
}

SumsQuery query_of(Run& run, const ProfileKeys& keys, const ProfileChoice& choice) {
  SumsQuery query{.world = true,
                  .rank = keys.rank,
                  .function = keys.has_function(),
                  .site = keys.has_place(),
                  .communicator = keys.communicator,
                  .size_class = keys.size};
  query.site_of = keys.line && !keys.site ? equal_places(run) : equal_paths(run);
  query.worlds = choice.worlds;
  query.ranks = choice.ranks;
  query.functions = choice.functions;
  query.callers_alone = choice.callers_alone;
  if (choice.communicators) query.communicators = communicators_named(run, *choice.communicators);
  if (keys.has_function()) return query;
  query.functions = names_of(run.functions(), [&](unsigned number) {
    return is_chosen(run.functions(), number, choice) && may_be_with_others(run.functions(), number, keys, choice);
  });
  if (!(keys.is_rank_alone() && choice.functions))
    query.untimed = names_of(run.functions(), [](unsigned number) { return meaning_of(number).bounds_net_time(); });
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
  if (query.functions)
    std::erase_if(*finest.functions, [&](const std::string& name) { return !has(*query.functions, name); });
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

// Whether calls of some spells, or of parts of spells, were only counted.
bool has_counted_spells(const Run& run) {
  for (const Process& process : run.processes())
    for (const auto& [number, spell] : process.spells)
      if (spell.finished && (!spell.measured || (spell.cut && spell.counted_calls > 0))) return true;
  return false;
}

// Whether the totals of the whole run are known for such rows.
bool knows_whole_run(const Run& run, const ProfileKeys& keys, const ProfileChoice& choice) {
  return keys.has_function() && !keys.size && !keys.communicator && !choice.communicators && has_counted_spells(run);
}

// Of calls of which none was measured, no more is known than their number.
template <class Total>
WholeRun whole_of(const Total& total) {
  WholeRun whole{.calls = std::llround(static_cast<double>(total.calls))};
  if (total.measured_calls == 0) return whole;
  whole.time_ns = rounded(total.time_ns);
  whole.time_error_ns = rounded(total.time_error_ns);
  whole.bytes = rounded(total.bytes);
  whole.bytes_error = rounded(total.bytes_error);
  return whole;
}

// Ranks measure the same spells, so errors may have the same direction: they are added up. Unknown if one is unknown.
void add_error(std::optional<double>& to, const std::optional<double>& from) {
  to = to && from ? std::optional(*to + *from) : std::nullopt;
}

std::map<SumKey, WholeRun> whole_by_function(Run& run, const SumsQuery& query) {
  SumsQuery by_rank = by_rank_and_function;
  by_rank.worlds = query.worlds;
  by_rank.ranks = query.ranks;
  by_rank.functions = query.functions;
  by_rank.callers_alone = query.callers_alone;
  std::map<SumKey, FunctionTotal> totals;
  for (const FunctionTotal& of : function_totals(run.processes(), run.profile_sums(by_rank))) {
    SumKey key{.world = of.world, .function = of.function};
    if (query.rank) {
      key.rank = of.rank;
      key.process = of.process;
    }
    const auto [found, is_new] = totals.try_emplace(key, of);
    if (is_new) continue;
    FunctionTotal& total = found->second;
    total.calls += of.calls;
    total.measured_calls += of.measured_calls;
    total.time_ns += of.time_ns;
    total.bytes += of.bytes;
    add_error(total.time_error_ns, of.time_error_ns);
    add_error(total.bytes_error, of.bytes_error);
  }
  std::map<SumKey, WholeRun> found;
  for (const auto& [key, total] : totals) {
    WholeRun& whole = found.emplace(key, whole_of(total)).first->second;
    whole.calls_error = 0;
  }
  return found;
}

std::map<SumKey, WholeRun> whole_by_site(Run& run, const SumsQuery& query) {
  std::map<SumKey, WholeRun> found;
  for (const SiteTotal& total : run.site_totals(query)) {
    const SumKey key{.world = total.world,
                     .rank = total.rank,
                     .process = total.process,
                     .site = total.site,
                     .function = total.function};
    WholeRun& whole = found.emplace(key, whole_of(total)).first->second;
    whole.calls_error = rounded(total.calls_error);
  }
  return found;
}

// One row for each process.
std::vector<ProfileRowSum> rows_of_ranks(Run& run, const std::vector<ProfileSum>& sums, const ProfileChoice& choice) {
  std::map<SumKey, const ProfileSum*> by_key;
  for (const ProfileSum& sum : sums) by_key.emplace(sum.key, &sum);
  Wanted worlds = choice.worlds, ranks = choice.ranks;
  sort(worlds);
  sort(ranks);
  const bool has_others =
      choice.functions && !names_of(run.functions(), [&](unsigned number) {
                             return !is_of_mpi(run.functions(), number) && is_chosen(run.functions(), number, choice);
                           }).empty();
  std::vector<ProfileRowSum> rows;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const Process& process = run.processes()[i];
    if (!holds(worlds, process.world) || !holds(ranks, process.record.rank)) continue;
    const SumKey key{.world = process.world, .rank = process.record.rank, .process = static_cast<std::int32_t>(i)};
    ProfileRowSum& row = rows.emplace_back();
    row.sum.key = key;
    if (const auto found = by_key.find(key); found != by_key.end()) row.sum = *found->second;
    const Account account = account_of(process, run.totals(i));
    const bool has_all_calls = !choice.functions && !choice.communicators;
    if (has_all_calls) row.sum.time_ns = account.mpi_ns;
    if (has_others)
      row.mpi_share = std::nullopt;
    else if (has_all_calls && sum(account.threads_ns, account.counted_ns) > 0)
      row.mpi_share = mpi_share(account);
    else if (account.counted_ns == 0 && account.threads_ns > 0)
      row.mpi_share = static_cast<double>(row.sum.time_ns) / static_cast<double>(account.threads_ns);
  }
  return rows;
}

}  // namespace

std::vector<std::int32_t> communicators_named(const Run& run, const std::vector<std::string>& wanted) {
  std::vector<std::int32_t> numbers;
  for (std::size_t number = 0; number < run.communicators().size(); ++number)
    if (has(wanted, run.communicators()[number].name)) numbers.push_back(static_cast<std::int32_t>(number));
  return numbers;
}

Questions profile_questions(Run& run, const ProfileKeys& keys, const ProfileChoice& choice) {
  Questions questions{.sums = {query_of(run, keys, choice)}};
  if (!keys.rank) questions.sums.push_back(finest_of(run, keys, questions.sums.front()));
  return questions;
}

std::vector<ProfileRowSum> profile_rows(Run& run, const ProfileKeys& keys, const ProfileChoice& choice) {
  const Questions questions = profile_questions(run, keys, choice);
  const SumsQuery& query = questions.sums.front();
  Answers answers = run.answer(questions);
  if (keys.is_rank_alone()) return rows_of_ranks(run, answers.sums.front(), choice);
  std::map<SumKey, std::int64_t> waited;
  if (!keys.rank) waited = imbalances(answers.sums.back(), query);
  const bool has_whole = knows_whole_run(run, keys, choice);
  std::map<SumKey, WholeRun> wholes;
  if (has_whole) wholes = query.site ? whole_by_site(run, query) : whole_by_function(run, query);
  std::vector<ProfileRowSum> rows;
  for (const ProfileSum& sum : answers.sums.front()) {
    ProfileRowSum& row = rows.emplace_back();
    row.sum = sum;
    if (keys.has_function()) row.time_error_ns = rounded(error_of_sample_ns(sum));
    if (const auto found = waited.find(sum.key); found != waited.end()) row.imbalance_ns = found->second;
    // All calls that were only counted are taken to have been made at known sites.
    if (has_whole) row.whole.calls = 0;
    if (const auto found = wholes.find(sum.key); found != wholes.end()) row.whole = found->second;
  }
  return rows;
}

}  // namespace tare::reader
