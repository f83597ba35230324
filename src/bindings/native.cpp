// tare._native: the reader as Python sees it. Typed in python/tare/_native.pyi; keep the two in agreement.
// Rows become dicts, every failure tare._native.Error. Work that takes time runs without the interpreter lock.

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <map>
#include <stdexcept>

#include "bindings/samples.h"
#include "format/chunk.h"
#include "reader/archive.h"
#include "reader/collect.h"
#include "reader/current_calls.h"
#include "reader/event_stream.h"
#include "reader/locations.h"
#include "reader/run.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tare::bindings {
namespace {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::size_t batch_rows = 4096;

template <typename T>
T unwrap(reader::Result<T> result) {
  if (!result) throw Error(result.error());
  return std::move(*result);
}

// Paths and names are bytes to the system: what is no UTF-8 comes out as Python's os.fsdecode has it.
nb::object text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

nb::object text_or_none(const std::string& bytes) { return bytes.empty() ? nb::none() : text(bytes); }

const char* name_of(reader::State state) {
  switch (state) {
    case reader::State::running:
      return "running";
    case reader::State::finished:
      return "finished";
    case reader::State::aborted:
      return "aborted";
    case reader::State::killed:
      break;
  }
  return "killed";
}

const char* name_of(format::Abi abi) {
  switch (abi) {
    case format::Abi::mpich:
      return "mpich";
    case format::Abi::openmpi:
      return "openmpi";
    case format::Abi::standard:
      return "standard";
    case format::Abi::none:
      break;
  }
  return "none";
}

const char* name_of(format::WindowFlavour flavour) {
  switch (flavour) {
    case format::WindowFlavour::create:
      return "create";
    case format::WindowFlavour::allocate:
      return "allocate";
    case format::WindowFlavour::shared:
      return "shared";
    case format::WindowFlavour::dynamic:
      return "dynamic";
    case format::WindowFlavour::none:
      break;
  }
  return "unknown";
}

const char* name_of(format::EventClass event_class) {
  switch (event_class) {
    case format::EventClass::regular:
      return "event";
    case format::EventClass::packed:
      return "packed";
    case format::EventClass::raw:
      return "raw";
    case format::EventClass::region:
      return "region";
    case format::EventClass::counter:
      return "counter";
    case format::EventClass::marker:
      return "marker";
    case format::EventClass::phase:
      break;
  }
  return "phase";
}

// A parameter of an event, read as its type says.
nb::object parameter(std::uint64_t word, format::ParameterType type) {
  switch (type) {
    case format::ParameterType::i8:
      return nb::int_(static_cast<std::int8_t>(word));
    case format::ParameterType::i16:
      return nb::int_(static_cast<std::int16_t>(word));
    case format::ParameterType::i32:
      return nb::int_(static_cast<std::int32_t>(word));
    case format::ParameterType::i64:
      return nb::int_(static_cast<std::int64_t>(word));
    case format::ParameterType::u8:
      return nb::int_(static_cast<std::uint8_t>(word));
    case format::ParameterType::u16:
      return nb::int_(static_cast<std::uint16_t>(word));
    case format::ParameterType::u32:
      return nb::int_(static_cast<std::uint32_t>(word));
    case format::ParameterType::f32:
      return nb::float_(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
    case format::ParameterType::f64:
      return nb::float_(std::bit_cast<double>(word));
    case format::ParameterType::u64:
      break;
  }
  return nb::int_(word);
}

nb::list parameters(const std::vector<std::uint64_t>& words, const std::vector<format::ParameterType>& types) {
  nb::list values;
  for (std::size_t i = 0; i < words.size(); ++i)
    values.append(parameter(words[i], i < types.size() ? types[i] : format::ParameterType::u64));
  return values;
}

// What a program wrote: nearly always text.
nb::object escaped_text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

// (first, stride, count) of each run; None if the members are not known.
nb::object member_runs(const std::optional<reader::Members>& members) {
  if (!members) return nb::none();
  nb::list runs;
  for (const format::MemberRun& run : members->runs()) runs.append(nb::make_tuple(run.first, run.stride, run.count));
  return runs;
}

std::string_view first_line(const char* lines) {
  const std::string_view all(lines);
  return all.substr(0, all.find('\n'));
}

nb::dict cost_dict(const format::ProcessRecord& record, const reader::Totals& totals, const reader::Account& account) {
  nb::dict cost;
  cost["call_ns"] = record.call_cost_ps / 1000.0;
  cost["lookup_ns"] = record.lookup_cost_ps / 1000.0;
  cost["event_ns"] = record.event_cost_ps / 1000.0;
  cost["events"] = totals.api_events;
  cost["wrapper_ns"] = account.wrapper_ns;
  cost["hook_init_ns"] = account.hook_init_ns;
  cost["hook_finalize_ns"] = account.hook_finalize_ns;
  cost["flushes"] = totals.flushes;
  cost["flush_ns"] = account.flush_ns;
  cost["flush_bytes"] = totals.flush_bytes;
  cost["dropped"] = totals.dropped;
  cost["net_share"] = account.net_share;
  return cost;
}

nb::object policy_of(const format::ProcessRecord& record) {
  if ((record.flags & format::traced) == 0) return nb::none();
  return text((record.flags & format::drops) != 0        ? "drop"
              : (record.flags & format::overwrites) != 0 ? "overwrite"
                                                         : "block");
}

// What a hundred thousand processes have in common is one object.
class SharedTexts {
 public:
  nb::object operator()(std::string_view bytes) {
    const auto found = texts_.find(bytes);
    return found != texts_.end() ? found->second : texts_.emplace(bytes, text(bytes)).first->second;
  }

 private:
  std::map<std::string, nb::object, std::less<>> texts_;
};

nb::dict process_dict(const reader::Process& process, const reader::Totals& totals, SharedTexts& shared) {
  const format::ProcessRecord& record = process.record;
  const reader::Account account = reader::account_of(process, totals);
  nb::dict trace;
  trace["events"] = totals.events;
  trace["bytes"] = totals.stored_bytes;
  trace["dropped"] = totals.dropped;
  trace["overwritten_bytes"] = totals.overwritten_bytes;
  trace["policy"] = policy_of(record);
  trace["written"] = (record.flags & format::not_written) == 0;
  nb::dict row;
  row["world"] = process.world;
  row["rank"] = record.rank;
  row["size"] = record.size;
  row["host"] = shared(record.host);
  row["pid"] = record.pid;
  row["threads"] = record.threads;
  nb::list names;
  for (const auto& [number, name] : process.thread_names) {
    nb::dict named;
    named["thread"] = number;
    named["name"] = escaped_text(name);
    names.append(named);
  }
  row["thread_names"] = names;
  row["unmeasured_threads"] = record.unmeasured_threads;
  row["state"] = name_of(process.state);
  row["exit_code"] = nb::none();
  if (record.exit_code != format::exit_code_unknown) row["exit_code"] = record.exit_code;
  row["finalized"] = record.finalize_leave != 0;
  row["stopped"] = process.stopped;
  row["executable"] = shared(record.executable);
  row["mpi"] = shared(first_line(record.mpi_library));
  row["abi"] = name_of(record.abi);
  row["start_ns"] = account.start_ns;
  row["wall_ns"] = account.wall_ns;
  row["net_ns"] = account.net_ns;
  row["mpi_ns"] = account.mpi_ns;
  row["calls"] = totals.calls;
  row["lookups"] = totals.lookups;
  row["cost"] = cost_dict(record, totals, account);
  row["trace"] = trace;
  return row;
}

// One Python string for each function, made once.
std::vector<nb::object> function_texts(const reader::FunctionNames& names) {
  std::vector<nb::object> texts;
  for (const std::string& name : names.names()) texts.push_back(text(name));
  return texts;
}

nb::object number_or_none(std::int32_t number) {
  static_assert(format::no_peer == format::no_tag);
  return number == format::no_peer ? nb::none() : nb::object(nb::int_(number));
}

nb::dict request_dict(const reader::PendingRequest& request, const std::vector<nb::object>& functions) {
  nb::dict row;
  row["function"] = functions[request.function];
  row["site"] = request.site;
  row["communicator"] = request.communicator;
  row["peer"] = number_or_none(request.peer);
  row["peer_world"] = number_or_none(request.peer_world);
  row["tag"] = number_or_none(request.tag);
  row["bytes"] = nb::none();
  if (!request.receives) row["bytes"] = request.bytes;
  row["start_ns"] = request.start_ns;
  row["receives"] = request.receives;
  row["waited_for"] = request.waited_for;
  return row;
}

reader::SumsQuery sums_query(const nb::dict& wanted) {
  reader::SumsQuery query;
  const std::map<std::string_view, bool*> keys = {{"world", &query.world},
                                                  {"rank", &query.rank},
                                                  {"function", &query.function},
                                                  {"site", &query.site},
                                                  {"communicator", &query.communicator},
                                                  {"size_class", &query.size_class}};
  using Numbers = std::vector<std::int32_t>;
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

class EventIterator;

class PyRun {
 public:
  PyRun(const std::string& run_dir, const std::string& segment_dir, const std::string& run_id,
        const std::string& member)
      : run_(open({run_dir, segment_dir, run_id, member})) {}

  const reader::Run& run() const { return run_; }

  nb::list processes() {
    const std::size_t count = run_.processes().size();
    if (count > 0) {
      const nb::gil_scoped_release unlocked;
      run_.totals(0);
    }
    nb::list rows;
    SharedTexts shared;
    for (std::size_t i = 0; i < count; ++i) rows.append(process_dict(run_.processes()[i], run_.totals(i), shared));
    return rows;
  }

  // For each query, its rows.
  nb::list profile_sums(const std::vector<nb::dict>& wanted) {
    std::vector<reader::SumsQuery> queries;
    for (const nb::dict& query : wanted) queries.push_back(sums_query(query));
    const auto sums = [&] {
      const nb::gil_scoped_release unlocked;
      return run_.all_profile_sums(queries);
    }();
    const std::vector<nb::object> names = function_texts(run_.functions());
    nb::list all;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      nb::list rows;
      for (const reader::ProfileSum& sum : sums[i]) rows.append(sum_dict(sum, queries[i], names));
      all.append(rows);
    }
    return all;
  }

  nb::list locations() {
    if (!run_.processes().empty()) {
      const nb::gil_scoped_release unlocked;
      run_.totals(0);  // warns of damage
    }
    const auto found = [&] {
      const nb::gil_scoped_release unlocked;
      return reader::locations_of(run_);
    }();
    nb::list rows;
    for (const reader::Location& location : found) {
      const reader::Process& process = run_.processes()[location.process];
      nb::dict row;
      row["world"] = process.world;
      row["rank"] = process.record.rank;
      row["location"] = location.block;
      row["thread"] = location.thread;
      const auto named = process.thread_names.find(location.thread);
      row["thread_name"] = named == process.thread_names.end() ? nb::none() : text(named->second);
      row["calls"] = location.totals.calls;
      row["lookups"] = location.totals.lookups;
      row["events"] = location.totals.events;
      row["bytes"] = location.totals.stored_bytes;
      row["dropped"] = location.totals.dropped;
      row["flushes"] = location.totals.flushes;
      row["flush_ns"] = process.clock.duration_ns(location.totals.flush_ticks);
      row["flush_bytes"] = location.totals.flush_bytes;
      rows.append(row);
    }
    return rows;
  }

  nb::list functions() const {
    nb::list names;
    for (const nb::object& name : function_texts(run_.functions())) names.append(name);
    return names;
  }

  using Numbers = std::vector<std::int32_t>;
  static reader::TablesQuery tables_query(const std::vector<std::string>& by, std::optional<Numbers> worlds,
                                          std::optional<Numbers> ranks, std::optional<Numbers> communicators) {
    const auto has = [&](const char* key) { return std::find(by.begin(), by.end(), key) != by.end(); };
    return {has("rank"), has("communicator"), std::move(worlds), std::move(ranks), std::move(communicators)};
  }

  nb::list peer_sums(const std::vector<std::string>& by, std::optional<Numbers> worlds, std::optional<Numbers> ranks,
                     std::optional<Numbers> communicators) {
    const reader::TablesQuery query = tables_query(by, std::move(worlds), std::move(ranks), std::move(communicators));
    const auto sums = [&] {
      const nb::gil_scoped_release unlocked;
      return run_.peers(query);
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

  nb::list phase_sums(const std::vector<std::string>& by, std::optional<Numbers> worlds, std::optional<Numbers> ranks) {
    const reader::TablesQuery query = tables_query(by, std::move(worlds), std::move(ranks), {});
    const auto sums = [&] {
      const nb::gil_scoped_release unlocked;
      return run_.phases(query);
    }();
    nb::list rows;
    for (const reader::PhaseSum& sum : sums) {
      nb::dict row;
      row["world"] = sum.world;
      if (query.rank) row["rank"] = sum.rank;
      row["phase"] = nb::none();
      if (sum.type >= 0) row["phase"] = escaped_text(run_.event_types()[static_cast<std::size_t>(sum.type)].name);
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

  // What is known of a frame, as fields of `row`.
  static void describe(nb::dict& row, const reader::CodeAddress& at, const reader::Symbol& symbol) {
    row["object"] = text(at.object);
    row["offset"] = at.address;
    row["caller"] = text_or_none(symbol.caller);
    row["file"] = text_or_none(symbol.file);
    row["line"] = nb::none();
    if (symbol.line != 0) row["line"] = symbol.line;
  }

  nb::list sites() {
    const std::vector<reader::SiteInfo>* sites = nullptr;
    const std::vector<reader::FrameInfo>* frames = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      sites = &run_.sites();
      frames = &run_.frames();
    }
    // Frames are shared by many paths.
    std::vector<nb::dict> described(frames->size());
    for (std::size_t i = 0; i < frames->size(); ++i) describe(described[i], (*frames)[i].at, (*frames)[i].symbol);
    nb::list rows;
    for (const reader::SiteInfo& site : *sites) {
      nb::dict row;
      describe(row, site.at, site.symbol);
      nb::list path;
      for (const std::int32_t frame : site.path) path.append(described[static_cast<std::size_t>(frame)]);
      row["path"] = path;
      row["shown"] = site.shown;
      row["cut"] = (site.flags & format::path_cut) != 0;
      row["left_out"] = (site.flags & format::frames_left_out) != 0;
      rows.append(row);
    }
    return rows;
  }

  nb::list scopes() const {
    nb::list rows;
    for (const reader::ScopeInfo& scope : run_.scopes()) {
      nb::dict row;
      row["world"] = scope.world;
      row["kind"] = scope.is_file ? "file" : "window";
      row["name"] = text(scope.name);
      row["communicator"] = scope.communicator;
      row["key"] = scope.key;
      if (!scope.is_file) row["flavour"] = name_of(scope.flavour);
      rows.append(row);
    }
    return rows;
  }

  nb::list communicators() const {
    nb::list rows;
    for (const reader::CommunicatorInfo& communicator : run_.communicators()) {
      nb::dict row;
      row["world"] = communicator.world;
      row["name"] = text(communicator.name);
      row["size"] = communicator.size;
      row["inter"] = communicator.inter;
      row["key"] = communicator.key;
      row["members"] = member_runs(communicator.members);
      row["remote_members"] = member_runs(communicator.remote_members);
      rows.append(row);
    }
    return rows;
  }

  nb::list samples() { return sample_rows(run_); }
  nb::list sample_summaries() { return bindings::sample_summaries(run_); }

  nb::list current_calls() const {
    const std::vector<nb::object> names = function_texts(run_.functions());
    nb::list rows;
    for (const reader::CurrentCall& call : reader::current_calls(run_)) {
      const reader::Process& process = run_.processes()[call.process];
      nb::dict row;
      row["world"] = process.world;
      row["rank"] = process.record.rank;
      row["process"] = call.process;
      row["thread"] = call.thread;
      row["function"] = names[call.function];
      row["inside"] = call.inside;
      row["site"] = call.site;
      row["communicator"] = call.communicator;
      row["peer"] = number_or_none(call.peer);
      row["peer_world"] = number_or_none(call.peer_world);
      row["tag"] = number_or_none(call.tag);
      row["source"] = number_or_none(call.source);
      row["source_world"] = number_or_none(call.source_world);
      row["source_tag"] = number_or_none(call.source_tag);
      row["enter_ticks"] = call.enter_ticks;
      row["enter_ns"] = call.enter_ns;
      row["leave_ns"] = nb::none();
      if (!call.inside) row["leave_ns"] = call.leave_ns;
      row["requests"] = call.requests;
      nb::list pending;
      for (const reader::PendingRequest& request : call.pending) pending.append(request_dict(request, names));
      row["pending"] = pending;
      rows.append(row);
    }
    return rows;
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> all = run_.warnings();
    all.insert(all.end(), stream_warnings_.begin(), stream_warnings_.end());
    return all;
  }

 private:
  friend class EventIterator;

  static reader::Run open(const reader::RunPaths& paths) {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::Run::open(paths));
  }

  reader::Run run_;
  std::vector<std::string> stream_warnings_;  // of the events read last
};

class EventIterator {
 public:
  // The run is kept alive by the binding.
  EventIterator(PyRun& run, reader::EventFilter filter)
      : run_(run), stream_(open(run.run_, std::move(filter))), names_(function_texts(run.run_.functions())) {
    for (const char* name :
         {"start_ns",     "duration_ns", "world", "rank",        "thread",  "function",   "site",     "communicator",
          "bytes",        "peer",        "root",  "tag",         "request", "records",    "kind",     "name",
          "begin",        "value",       "unit",  "parameters",  "text",    "peer_world", "received", "source",
          "source_world", "source_tag",  "scope", "thread_name", "requests"})
      keys_.push_back(nb::str(name));
    for (const reader::EventType& type : run.run_.event_types()) event_names_.push_back(escaped_text(type.name));
  }

  nb::list next() {
    std::vector<reader::EventRow> rows;
    {
      const nb::gil_scoped_release unlocked;
      rows = stream_.next(batch_rows);
    }
    run_.stream_warnings_ = stream_.warnings();
    if (rows.empty()) throw nb::stop_iteration();
    nb::list batch;
    for (const reader::EventRow& row : rows) batch.append(dict_of(row));
    return batch;
  }

 private:
  enum Key {
    start,
    duration,
    world,
    rank,
    thread,
    function,
    site,
    communicator,
    bytes,
    peer,
    root,
    tag,
    request,
    records,
    kind,
    name,
    begin,
    value,
    unit,
    values,
    note,
    peer_world,
    received,
    source,
    source_world,
    source_tag,
    scope,
    thread_name,
    requests
  };

  static reader::EventStream open(const reader::Run& run, reader::EventFilter filter) {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::EventStream::open(run, std::move(filter)));
  }

  template <typename T>
  void set(nb::dict& dict, Key key, const T& value) const {
    dict[keys_[key]] = value;
  }

  nb::dict dict_of(const reader::EventRow& row) const {
    nb::dict dict;
    set(dict, start, row.start_ns);
    set(dict, world, row.world);
    set(dict, rank, row.rank);
    set(dict, thread, row.thread);
    if (row.thread_name != nullptr) set(dict, thread_name, escaped_text(*row.thread_name));
    if (row.kind == reader::EventKind::event || row.kind == reader::EventKind::raw_event) {
      set_event(dict, row);
      return dict;
    }
    set(dict, duration, row.duration_ns);
    if (row.kind == reader::EventKind::call)
      set(dict, function, names_[row.function]);
    else
      set(dict, function, text(reader::EventStream::name(run_.run_, row)));
    if (row.site >= 0) set(dict, site, row.site);
    if (row.communicator >= 0) set(dict, communicator, row.communicator);
    if (row.scope >= 0) set(dict, scope, row.scope);
    if (row.bytes != format::no_bytes) set(dict, bytes, row.bytes);
    if (row.peer != format::no_peer) set(dict, row.rooted ? root : peer, row.peer);
    if (row.peer_world != format::no_peer && !row.rooted) set(dict, peer_world, row.peer_world);
    if (row.tag != format::no_tag) set(dict, tag, row.tag);
    if (row.received != format::no_bytes) set(dict, received, row.received);
    if (row.source != format::no_peer) set(dict, source, row.source);
    if (row.source_world != format::no_peer) set(dict, source_world, row.source_world);
    if (row.source_tag != format::no_tag) set(dict, source_tag, row.source_tag);
    if (row.request != format::no_request) set(dict, request, row.request);
    if (row.kind != reader::EventKind::call) set(dict, records, row.records);
    if (!row.requests.empty()) set(dict, requests, request_list(row));
    return dict;
  }

  nb::list request_list(const reader::EventRow& row) const {
    nb::list list;
    for (const reader::EventRequest& of : row.requests) {
      nb::dict dict;
      if (of.request != format::no_request) set(dict, request, of.request);
      if (of.communicator >= 0) set(dict, communicator, of.communicator);
      if (of.peer != format::no_peer) set(dict, peer, of.peer);
      if (of.peer_world != format::no_peer) set(dict, peer_world, of.peer_world);
      if (of.tag != format::no_tag) set(dict, tag, of.tag);
      if (of.bytes != format::no_bytes) set(dict, bytes, of.bytes);
      list.append(dict);
    }
    return list;
  }

  // The fields of an event of the API.
  void set_event(nb::dict& dict, const reader::EventRow& row) const {
    static const reader::EventType unknown{format::EventClass::packed, "other", "", {}};
    const bool known = row.event_type >= 0;
    const reader::EventType& type = known ? run_.run_.event_types()[static_cast<std::size_t>(row.event_type)] : unknown;
    const std::uint64_t first = row.parameters.empty() ? 0 : row.parameters.front();
    // How it was recorded decides between raw and the others, whatever the definition says.
    const bool raw = row.kind == reader::EventKind::raw_event;
    format::EventClass event_class = raw ? format::EventClass::raw : type.event_class;
    if (!raw && event_class == format::EventClass::raw) event_class = format::EventClass::packed;
    set(dict, kind, name_of(event_class));
    set(dict, name, known ? event_names_[static_cast<std::size_t>(row.event_type)] : nb::object(nb::str("other")));
    switch (event_class) {
      case format::EventClass::region:
      case format::EventClass::phase:
        set(dict, begin, first != 0);
        break;
      case format::EventClass::counter:
        set(dict, value, std::bit_cast<double>(first));
        set(dict, unit, escaped_text(type.unit));
        break;
      case format::EventClass::regular:
      case format::EventClass::packed:
        set(dict, values, parameters(row.parameters, type.parameters));
        break;
      case format::EventClass::raw:
        set(dict, note, escaped_text(row.text));
        break;
      case format::EventClass::marker:
        break;
    }
  }

  PyRun& run_;
  reader::EventStream stream_;
  std::vector<nb::object> names_;
  std::vector<nb::object> event_names_;
  std::vector<nb::object> keys_;
};

nb::dict collect(const std::string& run_dir, const std::string& segment_dir, const std::string& run_id) {
  const auto work = [&] {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::collect({run_dir, segment_dir, run_id}));
  };
  const reader::Collected collected = work();
  nb::dict row;
  row["processes"] = collected.processes;
  row["running"] = collected.running;
  row["recovered_events"] = collected.recovered_events;
  row["kept"] = collected.kept;
  row["messages"] = collected.messages;
  return row;
}

using PyProgress = std::function<void(std::uint64_t)>;

// Does `work` without the interpreter lock, with a progress that takes it.
template <typename Work>
void copy_unlocked(const PyProgress& progress, const Work& work) {
  std::optional<reader::Failure> failure;
  {
    const nb::gil_scoped_release unlocked;
    failure = work([&](std::uint64_t bytes) {
      const nb::gil_scoped_acquire locked;
      progress(bytes);
    });
  }
  if (failure) throw Error(failure->message);
}

class PyArchive {
 public:
  explicit PyArchive(const std::string& path) : path_(path), index_(open(path)) {}

  nb::list files() const {
    nb::list rows;
    for (const reader::ArchivedFile& file : index_.files) {
      nb::dict row;
      row["member"] = text(file.member);
      row["kind"] = file.kind == format::MemberKind::run ? "run" : "file";
      row["name"] = text(file.name);
      row["size"] = file.size;
      row["offset"] = file.offset;
      row["present"] = file.present;
      rows.append(row);
    }
    return rows;
  }

  nb::list warnings() const {
    nb::list lines;
    for (const std::string& warning : index_.warnings) lines.append(text(warning));
    return lines;
  }

  // A wrong checksum is a failure only if `check`.
  void extract(std::size_t number, const std::string& to, bool check, const PyProgress& progress) const {
    reader::Source from = source(number);
    if (!check) from.crc.reset();
    copy_unlocked(progress, [&](const reader::Progress& unlocked) { return reader::extract(from, to, unlocked); });
  }

  const reader::ArchivedFile& file(std::size_t number) const {
    if (number >= index_.files.size()) throw nb::index_error();
    return index_.files[number];
  }

  // Of a file that is cut off, what is there.
  reader::Source source(std::size_t number) const {
    const reader::ArchivedFile& from = file(number);
    if (from.present < from.size) return {path_, from.offset, from.present, std::nullopt};
    return {path_, from.offset, from.size, from.crc};
  }

 private:
  static reader::ArchiveIndex open(const std::string& path) {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::ArchiveIndex::open(path));
  }

  std::string path_;
  reader::ArchiveIndex index_;
};

class PyArchiveWriter {
 public:
  explicit PyArchiveWriter(const std::string& path) : writer_(unwrap(reader::ArchiveWriter::create(path))) {}

  void add_file(const std::string& member, bool of_run, const std::string& name, const std::string& path,
                const PyProgress& progress) {
    const auto kind = of_run ? format::MemberKind::run : format::MemberKind::file;
    add(member, kind, name, {path, 0, std::nullopt, std::nullopt}, progress);
  }

  void add_archived(const std::string& member, const PyArchive& archive, std::size_t number,
                    const PyProgress& progress) {
    const reader::ArchivedFile& file = archive.file(number);
    add(member, file.kind, file.name, archive.source(number), progress);
  }

  void finish() {
    copy_unlocked({}, [&](const reader::Progress&) { return writer_.finish(); });
  }

 private:
  void add(const std::string& member, format::MemberKind kind, const std::string& name, const reader::Source& source,
           const PyProgress& progress) {
    copy_unlocked(progress,
                  [&](const reader::Progress& unlocked) { return writer_.add(member, kind, name, source, unlocked); });
  }

  reader::ArchiveWriter writer_;
};

}  // namespace
}  // namespace tare::bindings

NB_MODULE(_native, module) {
  using namespace tare::bindings;
  module.doc() = "The reader of run directories.";
  module.attr("FORMAT_VERSION") = tare::format::format_version;
  nb::exception<Error>(module, "Error");

  module.def("collect", &collect, "run_dir"_a, "segment_dir"_a, "run_id"_a,
             "Drains dead processes' segments into the run directory and stores symbols.");

  module.def("sample_method", &sample_method, "spec"_a, "Method of a spec of message sampling.");

  module.def("is_archive", &tare::reader::is_archive_file, "path"_a, "Whether the file begins as an archive does.");

  nb::class_<PyArchive>(module, "Archive", "What is in an archive of runs; opens it for as long as a call takes.")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("files", &PyArchive::files)
      .def("warnings", &PyArchive::warnings)
      .def("extract", &PyArchive::extract, "number"_a, "to"_a, "check"_a, "progress"_a);

  nb::class_<PyArchiveWriter>(module, "ArchiveWriter", "Makes a new archive; it is one only after finish().")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("add_file", &PyArchiveWriter::add_file, "member"_a, "of_run"_a, "name"_a, "path"_a, "progress"_a)
      .def("add_archived", &PyArchiveWriter::add_archived, "member"_a, "archive"_a, "number"_a, "progress"_a)
      .def("finish", &PyArchiveWriter::finish);

  nb::class_<EventIterator>(module, "EventIterator")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &EventIterator::next);

  nb::class_<PyRun>(module, "Run", "A run directory, and the segments of it that are not yet collected.")
      .def(nb::init<const std::string&, const std::string&, const std::string&, const std::string&>(), "run_dir"_a,
           "segment_dir"_a = "", "run_id"_a = "", "member"_a = "")
      .def("processes", &PyRun::processes)
      .def("profile_sums", &PyRun::profile_sums, "queries"_a)
      .def("peer_sums", &PyRun::peer_sums, "by"_a, "worlds"_a = nb::none(), "ranks"_a = nb::none(),
           "communicators"_a = nb::none())
      .def("phase_sums", &PyRun::phase_sums, "by"_a, "worlds"_a = nb::none(), "ranks"_a = nb::none())
      .def("locations", &PyRun::locations)
      .def("functions", &PyRun::functions)
      .def("sites", &PyRun::sites)
      .def("communicators", &PyRun::communicators)
      .def("scopes", &PyRun::scopes)
      .def("samples", &PyRun::samples)
      .def("sample_summaries", &PyRun::sample_summaries)
      .def(
          "events",
          [](PyRun& run, std::optional<std::vector<int>> ranks, std::optional<std::vector<std::string>> functions,
             std::optional<std::int64_t> start_ns, std::optional<std::int64_t> end_ns, std::uint64_t limit) {
            return new EventIterator(run, {std::move(ranks), std::move(functions), start_ns, end_ns, limit});
          },
          "ranks"_a = nb::none(), "functions"_a = nb::none(), "start_ns"_a = nb::none(), "end_ns"_a = nb::none(),
          "limit"_a = 0, nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership)
      .def("current_calls", &PyRun::current_calls)
      .def("warnings", &PyRun::warnings);
}
