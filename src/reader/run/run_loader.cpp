#include "reader/run/run_loader.h"

#include <algorithm>
#include <utility>

#include "reader/model/host_names.h"
#include "reader/model/missing_ranks.h"
#include "reader/model/worlds.h"
#include "reader/parallel.h"
#include "reader/store/calls_chunk.h"
#include "reader/store/payload.h"
#include "reader/store/process_end.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// Two readings of a clock that are this far apart give its rate with a relative error of 1e-6.
constexpr double enough_ns = 50e6;

// Whether its segment is here, and it has, or had, the clocks of this machine.
bool runs_here(const Process& process) { return process.segment && is_here(process.segment->maker()); }

// Makes sure that a text of a record ends with a zero byte, also if the record is damaged.
template <std::size_t n>
void terminate(char (&text)[n]) {
  text[n - 1] = '\0';
}

// Whether the process did not call MPI_Finalize but should have. Programs that use sessions need not call it.
bool lacks_finalize(const ProcessRecord& record) {
  return record.init_enter != 0 && record.finalize_leave == 0 && (record.flags & sessions) == 0;
}

Profile profile_of(const LocationCopy& location) {
  Profile profile{location.summary, location.rows, location.peers, location.phases, location.weighed, {}};
  for (std::size_t i = 0; i < location.lookups.size(); ++i)
    if (location.lookups[i] != 0) profile.counted.push_back({i, location.lookups[i]});
  settle(profile.rows);
  return profile;
}

// A text that is equal for definitions of the same communicator in several processes (Run::communicators).
std::string identity_of(const Communicator& communicator, std::uint32_t number, int world) {
  if (communicator.key != 0) return "k" + std::to_string(world) + ' ' + std::to_string(communicator.key);
  const std::string size = std::to_string(communicator.size) + ' ';
  if (!communicator.name.empty()) return "n" + size + communicator.name;
  return size + std::to_string(world) + ' ' + std::to_string(number);
}

}  // namespace

void RunLoader::read_segments() {
  const Owners owners(run_.paths_.run_dir);
  std::uint64_t others = 0;
  for (const std::string& directory : segment_directories(run_.paths_)) {
    for (const SegmentName& name : list_segments(directory, run_.paths_.run_id, owners).names) {
      auto file = SegmentFile::open(directory, name, owners);
      if (!file)
        warn(file.error());
      else if (file->is_initialised() && !file->is_of(run_.paths_.run_key))
        ++others;
      else if (file->is_initialised())
        read_segment(std::move(*file));
    }
  }
  if (others != 0) warn(segments_of_others(others, run_.paths_));
}

void RunLoader::read_segment(SegmentFile file) {
  auto record = file.process();
  const auto locations = file.locations();
  if (!record || !locations) return warn(record ? locations.error() : record.error());
  SegmentContents contents{std::move(file), *record, {}, {}, {}, {}, {}};
  for (std::uint32_t block = 0; block < *locations; ++block) {
    auto location = contents.file.location(block);
    if (!location) return warn(location.error());
    contents.locations.push_back(std::move(*location));
    if (const auto buffer = contents.file.buffer(block))
      contents.buffered[block] = {buffer->sequence, count_records(*buffer)};
  }
  if (auto requests = contents.file.requests()) contents.requests = std::move(*requests);
  // Read after the rows, so that the numbers in the rows are defined.
  auto definitions = contents.file.definitions();
  if (!definitions) return warn(definitions.error());
  contents.definitions = std::move(*definitions);
  auto payloads = contents.file.payloads();
  if (!payloads) return warn(payloads.error());
  contents.payloads = std::move(*payloads);
  segments_.push_back(std::move(contents));
}

// Each program that a process runs, one after another (exec), has a record of its own, and the system tells one end for
// all of them: a program ends at the latest where the next one begins. If it has recorded its end, or was seen later,
// it is another process, of another namespace of process numbers.
void RunLoader::end_replaced(const std::vector<Process*>& processes) {
  std::map<std::pair<std::string_view, std::uint32_t>, std::vector<Process*>> of_pid;
  for (Process* process : processes) of_pid[{process->record.host, process->record.pid}].push_back(process);
  for (auto& [pid, programs] : of_pid) {
    std::sort(programs.begin(), programs.end(),
              [](const Process* a, const Process* b) { return a->record.attach < b->record.attach; });
    for (std::size_t i = 1; i < programs.size(); ++i) {
      Process& earlier = *programs[i - 1];
      const ProcessRecord& record = earlier.record;
      const bool has_recorded_end = record.end != 0 && (record.flags & (end_seen | ended_with_command)) == 0;
      const std::uint64_t next = programs[i]->record.attach;
      if (!has_recorded_end && next < earlier.end && last_evidence(earlier) <= next) earlier.end = next;
    }
  }
}

Result<Run> RunLoader::load(RunFiles files) {
  run_.files_ = std::move(files);
  for (std::string& message : run_.files_.warnings) warn(std::move(message));
  bool answers = false;
  for (const ChunkRef& chunk : run_.files_.chunks) {
    if (chunk.file >= run_.files_.answers && !std::exchange(answers, true)) note_ended();
    if (!answers || !ended_.contains(chunk.header.process)) take_chunk(chunk);
  }
  for (SegmentContents& contents : segments_) take_segment(std::move(contents));
  run_.files_.release();
  std::vector<Process*> processes;
  for (auto& [id, process] : processes_) {
    process.id = id;
    complete(process);
    processes.push_back(&process);
  }
  end_replaced(processes);
  set_clocks(processes);
  if (std::string mixed = find_worlds(processes); !mixed.empty()) warn(std::move(mixed));
  distinguish_hosts(processes);
  run_.processes_.reserve(processes.size());
  for (Process* process : processes) {
    const bool nothing_here = !process->has_results && process->events.empty();
    (nothing_here ? run_.elsewhere_ : run_.processes_).push_back(std::move(*process));
  }
  processes_.clear();
  warn_of_lost_definitions();
  load_definitions();
  return std::move(run_);
}

// Of a process that has ended since it was answered, what is in the files is newer.
void RunLoader::note_ended() {
  for (const auto& [id, process] : processes_)
    if (has_ended(process.record)) ended_.insert(id);
}

// If there was no room for the definition of a call site or communicator, its rows exist, but its place or name is not
// known.
void RunLoader::warn_of_lost_definitions() {
  std::uint64_t lost = 0;
  std::size_t processes = 0;
  for (const Process& process : run_.processes_) {
    lost += process.record.definitions_lost;
    processes += process.record.definitions_lost != 0 ? 1 : 0;
  }
  if (lost != 0)
    warn("the definition log of " + std::to_string(processes) + " of " + std::to_string(run_.processes_.size()) +
         " processes was full: " + std::to_string(lost) +
         " call sites, names and the like are not known (tare run --stack 1 takes less)");
}

// Loads the definitions of 2048 processes at a time, because those of all processes may not fit into memory. Threads
// read them in parallel, and look up the call sites. New call sites are added one process after another; after the
// first processes there are few.
void RunLoader::load_definitions() {
  constexpr std::size_t stretch = 2048;
  constexpr std::size_t read_by_a_thread = 64;
  struct Read {
    Definitions definitions;
    std::vector<std::string> damage;
    bool has_new_sites = false;
  };
  std::vector<Process>& all = run_.processes_;
  SiteIndex sites(run_.frames_, run_.sites_);
  std::vector<Read> reads(std::min(stretch, all.size()));
  const unsigned threads = threads_for(reads.size(), read_by_a_thread);
  std::vector<std::vector<char>> raw(threads);
  std::vector<SiteIndex::Workspace> workspaces(threads);
  for (std::size_t begin = 0; begin < all.size(); begin += stretch) {
    const std::size_t count = std::min(stretch, all.size() - begin);
    parallel(count, threads, [&](unsigned thread, std::size_t i) {
      Process& process = all[begin + i];
      process.definitions = std::move(reads[i].definitions);
      reads[i].damage = read_definitions(process, raw[thread]);
      reads[i].has_new_sites = !sites.find(process, workspaces[thread]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      Process& process = all[begin + i];
      for (std::string& message : reads[i].damage) warn(std::move(message));
      if (reads[i].has_new_sites) sites.add(process, workspaces.front());
      index_communicators(process);
      index_scopes(process);
      process.thread_names = std::move(process.definitions.threads);
      process.long_executable = std::move(process.definitions.executable);
      process.spells = std::move(process.definitions.spells);
      process.epoch_groups = std::move(process.definitions.epoch_groups);
      index_event_types(process);
      if (process.segment) continue;
      process.definitions.clear();
      reads[i].definitions = std::move(process.definitions);
    }
    run_.files_.release();
  }
  for (std::size_t number = 0; number < run_.communicators_.size(); ++number)
    if (std::string& name = run_.communicators_[number].name; name.empty()) name = "#" + std::to_string(number);
  for (std::size_t number = 0, windows = 0; number < run_.scopes_.size(); ++number)
    if (ScopeInfo& scope = run_.scopes_[number]; !scope.is_file) {
      if (scope.name.empty()) scope.name = "#" + std::to_string(windows);
      ++windows;
    }
}

// Applies the definitions of the process that are in files, then those in its segment. Returns warnings about damage.
std::vector<std::string> RunLoader::read_definitions(Process& process, std::vector<char>& raw) const {
  std::vector<std::string> damage;
  if (const auto chunks = definitions_.find(process.id); chunks != definitions_.end()) {
    for (const ChunkRef* chunk : chunks->second) {
      std::string reason;
      if (!load_chunk(*chunk, raw, reason) || !process.definitions.apply({raw.data(), raw.size()}))
        damage.push_back(damaged_chunk(run_.files_.names[chunk->file], *chunk, reason));
    }
  }
  if (const auto log = logs_.find(process.id); log != logs_.end() && !process.definitions.apply(log->second))
    damage.push_back(process.segment->name().file + ": its definition log is damaged");
  return damage;
}

void RunLoader::take_chunk(const ChunkRef& chunk) {
  const ChunkHeader& header = chunk.header;
  // Other types are for archives, or were added by a later release with the same format version.
  if (header.type > ChunkType::symbols && header.type != ChunkType::samples && header.type != ChunkType::calls &&
      header.type != ChunkType::offloads && header.type != ChunkType::spell_sums &&
      header.type != ChunkType::analysis && header.type != ChunkType::scheduling && header.type != ChunkType::stacks &&
      header.type != ChunkType::files)
    return;
  if (header.type != ChunkType::functions && header.type != ChunkType::symbols) {
    Process& process = process_of(header.process);
    file_of_.try_emplace(header.process, chunk.file);
    if (header.ticks != 0) process.clock_pairs.push_back({header.ticks, header.monotonic_ns});
    if (header.type == ChunkType::events) return process.events.push_back(chunk);
    if (header.type == ChunkType::definitions) return definitions_[header.process].push_back(&chunk);
    if (header.type == ChunkType::profile) {
      process.profiles[header.location] = {&chunk, nullptr};
      return;
    }
    if (header.type == ChunkType::samples) {
      process.samples = {&chunk, nullptr};
      return;
    }
    if (header.type == ChunkType::scheduling) {
      process.scheduling = {&chunk, nullptr};
      return;
    }
    if (header.type == ChunkType::stacks) {
      process.stacks = {&chunk, nullptr};
      return;
    }
    if (header.type == ChunkType::files) {
      process.files = {&chunk, nullptr};
      return;
    }
    if (header.type == ChunkType::analysis) {
      process.analysis = &chunk;
      return;
    }
  }
  std::string reason;
  if (load_chunk(chunk, raw_, reason) && take_payload(chunk, {raw_.data(), raw_.size()})) return;
  warn(damaged_chunk(run_.files_.names[chunk.file], chunk, reason));
}

bool RunLoader::take_of_process(ChunkType type, std::string_view payload, Process& process) {
  if (type == ChunkType::spell_sums) return take_all_records(payload, process.spell_sums);
  return payload.size() == sizeof process.offloads && take_record(payload, process.offloads);
}

bool RunLoader::take_payload(const ChunkRef& chunk, std::string_view payload) {
  const ChunkHeader& header = chunk.header;
  switch (header.type) {
    case ChunkType::functions: {
      auto& map = run_.maps_.emplace_back(
          std::make_unique<FunctionNames::Map>(run_.functions_->map_of(payload, header.version)));
      maps_by_file_.try_emplace(chunk.file, map.get());
      return true;
    }
    case ChunkType::process: {
      ProcessRecord& record = process_of(header.process).record;
      if (payload.size() < first_process_record_bytes || payload.size() > sizeof record) return false;
      take_record(payload, record, payload.size());
      if (header.version == 1) record.before_attach_us = 0;
      return true;
    }
    case ChunkType::symbols:
      return run_.symbols_.apply(payload);
    case ChunkType::calls: {
      Process& process = process_of(header.process);
      return parse_calls(payload, process.calls, process.requests);
    }
    case ChunkType::spell_sums:
    case ChunkType::offloads:
      return take_of_process(header.type, payload, process_of(header.process));
    default:
      return true;
  }
}

void RunLoader::take_segment(SegmentContents contents) {
  Process& process = process_of(contents.record.process);
  const std::uint32_t told = process.record.flags & (told_living | told_stopped);
  process.record = contents.record;
  process.record.flags |= told;
  process.calls.clear();
  for (const LocationCopy& location : contents.locations) {
    process.profiles[location.block] = {nullptr, std::make_shared<Profile>(profile_of(location))};
    process.last_seen = std::max(process.last_seen, location.last_time);
    if (location.summary.in_use != 0) process.calls.push_back(location.call);
  }
  process.requests = std::move(contents.requests);
  for (SegmentFile::Payload& payload : contents.payloads) {
    if (payload.type == ChunkType::scheduling) {
      process.scheduling = {nullptr, std::make_shared<std::string>(std::move(payload.bytes))};
    } else if (payload.type == ChunkType::stacks) {
      process.stacks = {nullptr, std::make_shared<std::string>(std::move(payload.bytes))};
    } else if (payload.type == ChunkType::files) {
      process.files = {nullptr, std::make_shared<std::string>(std::move(payload.bytes))};
    } else if (payload.type == ChunkType::samples) {
      auto samples = std::make_shared<Samples>();
      if (parse_samples(payload.bytes, *samples)) process.samples = {nullptr, samples};
    } else {
      take_of_process(payload.type, payload.bytes, process);
    }
  }
  logs_[process.record.process] = std::move(contents.definitions);
  process.buffered = std::move(contents.buffered);
  if ((process.record.flags & overwrites) != 0) process.events.clear();  // a keeper has saved them before
  process.segment = std::move(contents.file);
}

void RunLoader::complete(Process& process) const {
  ProcessRecord& record = process.record;
  const auto file = file_of_.find(process.id);
  process.functions = &run_.functions_->built_in();
  if (file != file_of_.end()) {
    const auto map = maps_by_file_.find(file->second);
    if (map != maps_by_file_.end()) process.functions = map->second;
  }
  if (record.process == 0 && record.pid == 0) {  // the process chunk is missing
    record.pid = static_cast<std::uint32_t>(process.id);
    record.rank = -1;
    record.exit_code = exit_code_unknown;
  }
  terminate(record.host);
  terminate(record.executable);
  terminate(record.mpi_library);
  std::sort(process.events.begin(), process.events.end(), [](const ChunkRef& a, const ChunkRef& b) {
    return std::tie(a.header.block, a.header.sequence) < std::tie(b.header.block, b.header.sequence);
  });
  set_state(process);
  if (!process.segment && !ended_early(record)) {  // a keeper has saved them while it ran
    process.calls.clear();
    process.requests.clear();
  }
  process.end = record.end != 0 ? record.end : last_evidence(process);
  if (process.state != State::running) return;
  if (runs_here(process))
    process.end = read_clock(record.clock).ticks;
  else if (!process.clock_pairs.empty())
    process.end = std::max(process.end, process.clock_pairs.back().ticks);
}

void RunLoader::set_state(Process& process) const {
  const ProcessRecord& record = process.record;
  Life life = run_.paths_.is_going_on && (record.flags & found_ended) == 0 ? Life::unknown : Life::gone;
  if (process.segment) life = process.segment->life();
  const bool is_told = (record.flags & told_living) != 0 && (!process.segment || life == Life::unknown);
  if (is_told) life = Life::lives;
  process.has_results = !is_elsewhere(process);
  if (!process.has_results || (record.flags & saved_living) != 0) life = Life::unknown;
  const auto living = life == Life::lives ? State::running : State::unknown;
  switch (record.state) {
    case ProcessState::aborted:
      process.state = State::aborted;
      break;
    case ProcessState::exited:
      process.state = lacks_finalize(record) ? State::exited : State::finished;
      break;
    case ProcessState::finalized:
      process.state = life != Life::gone ? living : format::signal_of(record) != 0 ? State::killed : State::finished;
      break;
    default:
      process.state = life != Life::gone ? living : State::killed;
  }
  if (process.state != State::running) return;
  process.stopped = is_told ? (record.flags & told_stopped) != 0
                            : process.segment && is_stopped(record.pid, process.segment->maker());
}

void RunLoader::set_clocks(const std::vector<Process*>& processes) const {
  // If a process died before its clock rate could be measured, it gets a rate that another process measured.
  double rates[2] = {0, 0};
  for (const bool measured_only : {true, false}) {
    for (Process* const each : processes) {
      Process& process = *each;
      const ProcessRecord& r = process.record;
      if (!measured_only && process.clock.is_measured()) continue;
      const bool tsc = r.clock == ClockKind::tsc;
      const double default_rate = tsc && rates[1] != 0 ? rates[1] : 1;
      std::vector<ClockPair> pairs = process.clock_pairs;
      pairs.push_back(r.clock_last);
      process.clock = ClockMap(r.clock_start, r.realtime_start_ns, pairs, default_rate);
      // A process that has ended keeps the rate that it measured, so that the run has the same numbers at each reading.
      const bool ended = process.state != State::running;
      const bool enough = static_cast<double>(process.clock.span()) * process.clock.rate() >= enough_ns;
      if (!enough && !(ended && process.clock.is_measured()) && tsc && runs_here(process)) {
        pairs.push_back(read_clock(r.clock));
        process.clock = ClockMap(r.clock_start, r.realtime_start_ns, pairs, default_rate);
      }
      if (process.clock.is_measured()) rates[tsc] = process.clock.rate();
    }
  }
}

void RunLoader::index_communicators(Process& process) {
  const auto members = [&](std::uint32_t group) {
    const Members* known = process.definitions.members(group);
    return known == nullptr ? std::nullopt : std::optional(*known);
  };
  for (const auto& [number, communicator] : process.definitions.communicators) {
    const auto next = static_cast<std::int32_t>(run_.communicators_.size());
    const auto [entry, is_new] =
        communicator_index_.try_emplace(identity_of(communicator, number, process.world), next);
    process.communicators.set(number, entry->second);
    if (is_new)
      run_.communicators_.push_back({process.world, communicator.name, communicator.size + communicator.remote_size,
                                     communicator.remote_size != 0, communicator.key, members(communicator.group),
                                     members(communicator.remote_group)});
    else if (std::string& name = run_.communicators_[static_cast<std::size_t>(entry->second)].name; name.empty())
      name = communicator.name;  // only some of the processes may have named it
  }
}

void RunLoader::index_scopes(Process& process) {
  for (const auto& [number, scope] : process.definitions.scopes) {
    const std::int32_t communicator = process.communicators.find(scope.communicator);
    process.communicators.set(number, communicator);
    const auto next = static_cast<std::int32_t>(run_.scopes_.size());
    // Without a key, it cannot be matched with those of other processes.
    const auto id = scope.key != 0 ? std::tuple{std::uint64_t{0}, process.world, scope.key}
                                   : std::tuple{process.id, process.world, std::uint64_t{number}};
    const auto [entry, is_new] = scope_index_.try_emplace(id, next);
    process.scopes.set(number, entry->second);
    if (is_new)
      run_.scopes_.push_back({process.world, scope.is_file, scope.flavour, communicator, scope.key, scope.name});
    else if (std::string& name = run_.scopes_[static_cast<std::size_t>(entry->second)].name; name.empty())
      name = scope.name;
  }
}

void RunLoader::index_event_types(Process& process) {
  for (const auto& [number, type] : process.definitions.event_types) {
    const auto next = static_cast<std::int32_t>(run_.event_types_.size());
    const auto [entry, is_new] = event_type_index_.try_emplace(type, next);
    if (is_new) run_.event_types_.push_back(type);
    process.event_types.set(number, entry->second);
  }
}

Result<Run> Run::open(const RunPaths& paths) {
  RunLoader loader(paths);
  loader.read_segments();
  auto files =
      paths.member.empty() ? RunFiles::open(paths.run_dir) : RunFiles::open_archived(paths.run_dir, paths.member);
  if (!files) return files.failure();
  if (auto failure = files->add_answers(paths.run_dir, paths.answers)) return *std::move(failure);
  return loader.load(std::move(*files));
}

Run Run::empty() { return std::move(*RunLoader(RunPaths{}).load(RunFiles{})); }

Result<Run> Run::of_memory(std::string_view bytes) {
  auto files = RunFiles::of_memory(bytes, "memory");
  if (!files) return files.failure();
  return RunLoader(RunPaths{}).load(std::move(*files));
}

}  // namespace tare::reader
