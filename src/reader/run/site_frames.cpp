#include "reader/run/site_frames.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tare::reader {
namespace {

// From this share on, a part is taken for nearly all of the whole.
constexpr double nearly_all = 0.75;
// With fewer rows, a common line or file may be chance.
constexpr std::size_t min_rows = 3;
// Wrappers may call other wrappers; this is how many layers are removed.
constexpr int max_steps = 4;

bool is_nearly_all(std::size_t some, std::size_t all) {
  return static_cast<double>(some) >= nearly_all * static_cast<double>(all);
}

// Identifies the source line of a frame; the address if the line is not known.
std::string line_of(const FrameInfo& frame) {
  std::string line = frame.at.object + '\0';
  if (frame.symbol.file.empty() || frame.symbol.line == 0) return line + '+' + std::to_string(frame.at.address);
  return line + frame.symbol.file + '\0' + std::to_string(frame.symbol.line);
}

// A call of a function at a site, and the index in the call path of the frame to show.
struct Call {
  std::string_view function;
  const SiteInfo* site;
  const std::vector<FrameInfo>* frames;
  std::size_t at;

  const FrameInfo& frame_at(std::size_t place) const { return (*frames)[static_cast<std::size_t>(site->path[place])]; }
  const FrameInfo& frame() const { return frame_at(at); }
  // Whether the path contains the caller of the frame.
  bool has_outer() const {
    const std::size_t last = site->path.size() - 1;
    const bool gap = (site->flags & format::frames_left_out) != 0;
    return at < last && !(gap && at + 1 == last);
  }
};
using Calls = std::vector<Call*>;

// How many rows a table of these calls would have, by function and line.
std::size_t rows_of(const Calls& calls) {
  std::set<std::pair<std::string_view, std::string>> rows;
  for (const Call* call : calls) rows.emplace(call->function, line_of(call->frame()));
  return rows.size();
}

// Groups the calls by a key. Groups are in the order of their first calls.
template <class Key>
std::vector<Calls> grouped(const Calls& calls, const Key& key) {
  std::map<std::string, std::size_t> numbers;
  std::vector<Calls> groups;
  for (Call* call : calls) {
    const auto [found, is_new] = numbers.try_emplace(key(*call), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(call);
  }
  return groups;
}

// The group with the most rows; the first of several.
Calls largest(const std::vector<Calls>& groups) {
  std::size_t most = 0;
  const Calls* found = nullptr;
  for (const Calls& group : groups)
    if (const std::size_t rows = rows_of(group); found == nullptr || rows > most) {
      most = rows;
      found = &group;
    }
  return found == nullptr ? Calls{} : *found;
}

bool are_nearly_all(const Calls& some, const Calls& calls) {
  const std::size_t rows = rows_of(some);
  return rows >= min_rows && is_nearly_all(rows, rows_of(calls));
}

// The object of the next inner frame of most calls; the first of several.
std::string library_below(const Calls& inner) {
  const auto below = [](const Call& call) { return call.frame_at(call.at - 1).at.object; };
  const std::vector<Calls> groups = grouped(inner, below);
  const auto most = std::max_element(groups.begin(), groups.end(),
                                     [](const Calls& a, const Calls& b) { return a.size() < b.size(); });
  return below(*most->front());
}

// If nearly all calls have the same line, shows the innermost frame in the library that this line calls.
void go_into_library(const Calls& calls) {
  const Calls of_line = largest(grouped(calls, [](const Call& call) { return line_of(call.frame()); }));
  Calls inner;
  std::copy_if(of_line.begin(), of_line.end(), std::back_inserter(inner),
               [](const Call* call) { return call->at > 0; });
  if (!are_nearly_all(of_line, calls) || inner.empty() || !is_nearly_all(inner.size(), of_line.size())) return;
  const std::string library = library_below(inner);
  for (Call* call : inner) {
    // In the library, and no wrapper: the name of a wrapper contains that of the function, as "solver_MPI_Send".
    const auto is_own = [&](std::size_t at) {
      const FrameInfo& frame = call->frame_at(at);
      return frame.at.object == library && frame.symbol.caller.find(call->function) == std::string::npos;
    };
    std::size_t at = 0;
    while (at < call->at && !is_own(at)) ++at;
    call->at = at < call->at ? at : call->at - 1;
  }
}

// If nearly all calls lie in one file of wrappers, shows the callers of the wrappers, if these have more lines. A
// function is taken for a wrapper if it calls a single MPI function.
void leave_wrappers(const Calls& calls) {
  Calls with_file;
  for (Call* call : calls)
    if (!call->frame().symbol.file.empty()) with_file.push_back(call);
  const Calls of_file = largest(grouped(with_file, [](const Call& call) { return call.frame().symbol.file; }));
  Calls outside;
  std::set<std::string_view> functions;
  std::set<std::pair<std::string_view, std::string>> before, after;
  for (Call* call : of_file) {
    functions.insert(call->function);
    if (!call->has_outer() || call->frame_at(call->at + 1).symbol.file == call->frame().symbol.file) continue;
    outside.push_back(call);
    before.emplace(call->function, line_of(call->frame()));
    after.emplace(call->function, line_of(call->frame_at(call->at + 1)));
  }
  const std::vector<Calls> callers = grouped(of_file, [](const Call& call) { return call.frame().symbol.caller; });
  const auto thin = static_cast<std::size_t>(std::count_if(callers.begin(), callers.end(), [](const Calls& each) {
    return std::all_of(each.begin(), each.end(),
                       [&](const Call* call) { return call->function == each.front()->function; });
  }));
  if (!are_nearly_all(of_file, calls) || !is_nearly_all(thin, callers.size()) ||
      !is_nearly_all(outside.size(), of_file.size()))
    return;
  if (functions.size() > 1 && after.size() > before.size())
    for (Call* call : outside) ++call->at;
}

// The name without the suffix of the large-count version: "MPI_Send" for "MPI_Send_c".
std::string_view base(std::string_view function) {
  if (function.ends_with("_c")) function.remove_suffix(2);
  return function;
}

}  // namespace

bool have_callers(const std::vector<SiteInfo>& sites) {
  return std::any_of(sites.begin(), sites.end(), [](const SiteInfo& site) { return site.path.size() > 1; });
}

void choose_frames(std::vector<SiteInfo>& sites, const std::vector<FrameInfo>& frames,
                   const std::vector<CalledSite>& called) {
  std::vector<Call> made;
  made.reserve(called.size());
  for (const CalledSite& each : called) {
    const SiteInfo& site = sites[static_cast<std::size_t>(each.site)];
    made.push_back({base(each.function), &site, &frames, site.shown});
  }
  Calls calls;
  for (Call& call : made) calls.push_back(&call);
  for (int step = 0; step < max_steps; ++step) {
    std::vector<std::size_t> before;
    for (const Call* call : calls) before.push_back(call->at);
    const std::size_t rows = rows_of(calls);
    go_into_library(calls);
    leave_wrappers(calls);  // also those in the library
    if (rows_of(calls) > rows) continue;
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i]->at = before[i];
    break;
  }
  std::map<const SiteInfo*, std::size_t> chosen;  // if calls of one site differ, the last one that moved counts
  for (const Call* call : calls)
    if (call->at != call->site->shown) chosen[call->site] = call->at;
  for (SiteInfo& site : sites)
    if (const auto found = chosen.find(&site); found != chosen.end()) site.shown = found->second;
}

}  // namespace tare::reader
