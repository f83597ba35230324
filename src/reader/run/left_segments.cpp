#include "reader/run/left_segments.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <tuple>

#include "format/liveness.h"
#include "format/segment_name.h"
#include "reader/model/process.h"
#include "reader/store/buffer_encoder.h"
#include "reader/store/calls_chunk.h"
#include "reader/store/chunk_file.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// Records of the event chunks that are on disk, by process, block and sequence.
using OnDisk = std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint32_t>;

OnDisk event_chunks(const RunFiles& files) {
  OnDisk records;
  for (const ChunkRef& chunk : files.chunks)
    if (chunk.header.type == ChunkType::events)
      records[{chunk.header.process, chunk.header.block, chunk.header.sequence}] = chunk.header.records;
  return records;
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string profile_payload(const LocationCopy& location) {
  std::string payload(bytes_of(location.summary));
  for (const ProfileRow& row : location.rows) payload += bytes_of(row);
  for (const PeerEntry& peer : location.peers) payload += bytes_of(peer);
  for (const PhaseEntry& phase : location.phases) payload += bytes_of(phase);
  for (const WeighedCalls& weighed : location.weighed) payload += bytes_of(weighed);
  for (std::size_t i = 0; i < location.lookups.size(); ++i)
    if (location.lookups[i] != 0) payload += bytes_of(CountedCalls{i, location.lookups[i]});
  return payload;
}

// The contents of one segment, read before anything is written.
struct Contents {
  ProcessRecord process{};
  std::vector<SegmentFile::Payload> payloads;
  std::string definitions;
  std::uint64_t definitions_from = 0;
  std::vector<LocationCopy> locations;
  std::vector<BufferCopy> buffers;
  std::vector<RequestEntry> requests;
};

Result<Contents> read_contents(const SegmentFile& segment) {
  Contents contents;
  const auto process = segment.process();
  if (!process) return process.failure();
  contents.process = *process;
  auto payloads = segment.payloads();
  if (!payloads) return payloads.failure();
  contents.payloads = std::move(*payloads);
  const auto locations = segment.locations();
  if (!locations) return locations.failure();
  for (std::uint32_t block = 0; block < *locations; ++block) {
    auto location = segment.location(block);
    if (!location) return location.failure();
    auto buffer = segment.buffer(block);
    if (!buffer) return buffer.failure();
    contents.locations.push_back(std::move(*location));
    contents.buffers.push_back(std::move(*buffer));
  }
  auto requests = segment.requests();
  if (!requests) return requests.failure();
  contents.requests = std::move(*requests);
  // A living process goes on: what is read after the rows has the numbers in them.
  const auto written = segment.definitions_written();
  if (!written) return written.failure();
  contents.definitions_from = *written;
  auto definitions = segment.definitions(*written);
  if (!definitions) return definitions.failure();
  contents.definitions = std::move(*definitions);
  return contents;
}

// The last time at which the process was seen running, in ticks. The calls of its threads tell it, which are in the
// segment alone.
std::uint64_t last_seen(const Contents& contents) {
  Process process;
  process.record = contents.process;
  for (const LocationCopy& location : contents.locations)
    process.last_seen = std::max(process.last_seen, location.last_time);
  return last_evidence(process);
}

// Stores the observed end of a process that did not record its end itself.
void note_ending(ProcessRecord& process, const Ending& ending) {
  if (process.state == ProcessState::exited || process.state == ProcessState::aborted) return;
  const int status = ending.status.value_or(0);
  if (WIFSIGNALED(status)) process.exit_code = -WTERMSIG(status);
  if (ending.status && WIFEXITED(status)) {
    process.exit_code = WEXITSTATUS(status);
    process.state = ProcessState::exited;
  }
  const ClockPair now = read_clock(process.clock);
  if (now.monotonic_ns < ending.ended_ns) return;
  const std::uint64_t ended = ticks_before(now.ticks, now.monotonic_ns - ending.ended_ns, process.clock_start, now);
  if (ended == 0) return;
  process.end = ended;
  process.flags |= end_seen;
}

// Sets the end of a process that has none. A killed process may have hung or computed for long after it was last seen,
// so the end of the command is used if it is known.
void note_end(Contents& contents, std::optional<std::uint64_t> command_ended_ns) {
  ProcessRecord& process = contents.process;
  if (process.end != 0) return;
  process.end = last_seen(contents);
  if (!command_ended_ns || process.state != ProcessState::running) return;
  const ClockPair now = read_clock(process.clock);
  if (now.monotonic_ns < *command_ended_ns) return;
  const std::uint64_t ended = ticks_before(now.ticks, now.monotonic_ns - *command_ended_ns, process.clock_start, now);
  if (ended <= process.end) return;
  process.end = ended;
  process.flags |= ended_with_command;
}

// Says of a process that may go on that this is not all of it, and how far it goes: only its segment has the calls that
// tell this.
void note_saved(Contents& contents) {
  ProcessRecord& process = contents.process;
  if (process.end != 0) return;
  process.flags |= saved_living;
  process.end = last_seen(contents);
}

// Removes events that are older than the flight recorder is to keep. They count as overwritten.
void remove_old_events(Contents& contents, std::uint64_t keep_ns) {
  if (keep_ns == 0) return;
  const ProcessRecord& process = contents.process;
  const std::uint64_t end = ended_early(process) ? last_seen(contents) : process.end;
  const std::uint64_t kept_from = ticks_before(end, keep_ns, process.clock_start, read_clock(process.clock));
  for (std::size_t block = 0; block < contents.buffers.size(); ++block)
    contents.locations[block].summary.overwritten_bytes += remove_older(contents.buffers[block], kept_from);
}

class Collector {
 public:
  Collector(const RunPaths& paths, const Collecting& how) : paths_(paths), how_(how), owners_(paths.run_dir) {}

  void collect_segments() {
    for (const std::string& directory : segment_directories(paths_)) {
      const ListedSegments found = list_segments(directory, paths_.run_id, owners_);
      foreign_ += found.foreign;
      for (const SegmentName& name : found.names) collect_segment(directory, name);
    }
    if (of_others_ != 0) say(segments_of_others(of_others_, paths_));
    if (foreign_ != 0)
      say(std::to_string(foreign_) + " files of other users in " + paths_.segment_dir +
          " are named like segments of this run: left alone");
    if (how_.copies || collected_.running + collected_.unknown + of_others_ != 0) return;
    for (const std::string& directory : segment_directories(paths_)) {
      ::unlink((directory + "/tare-" + paths_.run_id + format::step_suffix).c_str());
      remove_mail(directory);
    }
  }

  Collected result() {
    if (collected_.kept > 0) {
      const std::string reason = errno_ == ENOSPC || errno_ == EDQUOT
                                     ? "disk full"
                                     : "cannot write to " + paths_.run_dir + " (" + std::strerror(errno_) + ")";
      const std::string remedy = errno_ == ENOSPC || errno_ == EDQUOT ? "free space" : "make it writable";
      const std::string whose =
          collected_.kept == 1 ? "1 process are" : std::to_string(collected_.kept) + " processes are";
      say(reason + ": the results of " + whose + " kept in " + paths_.segment_dir + "; " + remedy +
          " and run `tare recover " + paths_.run_dir + "`");
    }
    return std::move(collected_);
  }

 private:
  // Removes the mailboxes for sampled messages that killed ranks left behind.
  void remove_mail(const std::string& directory) const {
    DIR* dir = ::opendir(directory.c_str());
    if (dir == nullptr) return;
    const std::string prefix = "tare-" + paths_.run_id + format::mail_suffix;
    while (const dirent* entry = ::readdir(dir))
      if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0) ::unlinkat(::dirfd(dir), entry->d_name, 0);
    ::closedir(dir);
  }
  void say(std::string message) { collected_.messages.push_back(std::move(message)); }

  void collect_segment(const std::string& directory, const SegmentName& name) {
    const auto segment = SegmentFile::open(directory, name, owners_);
    if (segment && segment->is_initialised() && !segment->is_of(paths_.run_key)) {
      ++of_others_;
      return;
    }
    if (!segment) {
      const bool vanished = ::access((directory + "/" + name.file).c_str(), F_OK) != 0;
      if (!vanished) say(segment.error());  // else another collector was faster
      return;
    }
    const Life life = begins(*segment, name) ? Life::lives : segment->life();
    if (how_.copies) return copy(*segment, name, life);
    if (life == Life::lives) ++collected_.running;
    if (life == Life::unknown && !how_.presume_ended) ++collected_.unknown;
    const bool ended = life == Life::gone || (life == Life::unknown && how_.presume_ended);
    if (!ended && !how_.saves_living) return;
    if (::flock(segment->fd(), LOCK_EX | LOCK_NB) != 0) return;  // another collector has it
    if (segment->is_initialised() && !drain(*segment, name, ended)) return;
    if (!ended) return;
    ::unlink((directory + "/" + name.file).c_str());
  }

  // Segments of other machines, which may lie in the run directory, are copied there.
  void copy(const SegmentFile& segment, const SegmentName& name, Life life) {
    if (!segment.is_initialised() || !is_here(segment.maker())) return;
    auto contents = read_contents(segment);
    if (!contents) return say(contents.error());
    if (life == Life::gone) complete(*contents, segment, name);
    if (life == Life::lives) {
      contents->process.flags |= told_living;
      if (is_stopped(contents->process.pid, segment.maker())) contents->process.flags |= told_stopped;
    }
    contents->process.host[sizeof contents->process.host - 1] = '\0';
    ChunkFile file(paths_.run_dir, how_.file);
    if (write_state(file, *contents)) return;
    ++collected_.kept;
    errno_ = file.error();
  }

  // Whether a process may be about to begin with the segment. Between making and mapping its file, nothing in that
  // tells that it lives.
  bool begins(const SegmentFile& segment, const SegmentName& name) const {
    if (segment.is_initialised() || !segment.is_new()) return false;
    if (how_.ending_of && how_.ending_of(name)) return false;
    return how_.waits_for_beginners || ::kill(static_cast<pid_t>(name.pid), 0) == 0 || errno == EPERM;
  }

  // True if all of it was written.
  bool drain(const SegmentFile& segment, const SegmentName& name, bool ended) {
    auto contents = read_contents(segment);
    if (!contents) {
      say(contents.error() + "; it is left where it is");
      return false;
    }
    if (ended)
      complete(*contents, segment, name);
    else
      note_saved(*contents);
    remove_old_events(*contents, segment.keep_ns());
    contents->process.host[sizeof contents->process.host - 1] = '\0';
    if (!know_files()) {
      ++collected_.kept;
      errno_ = errno;
      return false;
    }
    ChunkFile file(paths_.run_dir, how_.file.empty() ? chunk_file_name(contents->process.host) : how_.file);
    const bool written = write_state(file, *contents) && write_events(file, *contents, segment.name());
    if (!written) {
      ++collected_.kept;
      errno_ = file.error();
      return false;
    }
    if (ended) ++collected_.processes;
    return true;
  }

  // False if the files cannot be read.
  bool know_files() {
    if (on_disk_) return true;
    if (how_.files != nullptr) {
      on_disk_ = event_chunks(*how_.files);
      return true;
    }
    const auto files = RunFiles::open(paths_.run_dir, how_.file);
    if (files) on_disk_ = event_chunks(*files);
    return on_disk_.has_value();
  }

  // Says of a process that it has ended, and what is known of its end.
  void complete(Contents& contents, const SegmentFile& segment, const SegmentName& name) const {
    contents.process.flags |= found_ended;
    const bool is_known = how_.ending_of && shares_pids(segment.maker());
    if (const auto ending = is_known ? how_.ending_of(name) : std::nullopt) note_ending(contents.process, *ending);
    note_end(contents, how_.command_ended_ns);
  }

  static ChunkHeader identity_of(const Contents& contents, ChunkType type) {
    ChunkHeader identity{};
    identity.type = type;
    identity.process = contents.process.process;
    return identity;
  }

  // All but the events.
  static bool write_state(ChunkFile& file, const Contents& contents) {
    return write_process(file, contents) && write_profiles(file, contents) && write_payloads(file, contents) &&
           write_definitions(file, contents) && write_calls(file, contents);
  }

  static bool write_process(ChunkFile& file, const Contents& contents) {
    ChunkHeader identity = identity_of(contents, ChunkType::process);
    // The collector runs where the process ran, so its clock is the same, unless the machine was restarted.
    const ClockPair now = read_clock(contents.process.clock);
    const ClockPair& start = contents.process.clock_start;
    if (now.ticks > start.ticks && now.monotonic_ns > start.monotonic_ns) {
      identity.ticks = now.ticks;
      identity.monotonic_ns = now.monotonic_ns;
    }
    return file.append(identity, bytes_of(contents.process));
  }

  static bool write_profiles(ChunkFile& file, const Contents& contents) {
    for (const LocationCopy& location : contents.locations) {
      ChunkHeader identity = identity_of(contents, ChunkType::profile);
      identity.location = identity.block = location.block;
      if (!file.append(identity, profile_payload(location))) return false;
    }
    return true;
  }

  static bool write_payloads(ChunkFile& file, const Contents& contents) {
    return std::all_of(contents.payloads.begin(), contents.payloads.end(), [&](const SegmentFile::Payload& payload) {
      return file.append(identity_of(contents, payload.type), payload.bytes);
    });
  }

  static bool write_definitions(ChunkFile& file, const Contents& contents) {
    if (contents.definitions.empty()) return true;
    ChunkHeader identity = identity_of(contents, ChunkType::definitions);
    identity.sequence = static_cast<std::uint32_t>(contents.definitions_from / 8);
    return file.append(identity, contents.definitions);
  }

  static bool write_calls(ChunkFile& file, const Contents& contents) {
    std::vector<ThreadCall> calls;
    for (const LocationCopy& location : contents.locations)
      if (location.summary.in_use != 0 && location.call.function != 0) calls.push_back(location.call);
    if (calls.empty() || !ended_early(contents.process)) return true;
    return file.append(identity_of(contents, ChunkType::calls), calls_payload(calls, contents.requests));
  }

  bool write_events(ChunkFile& file, const Contents& contents, const SegmentName& name) {
    if ((contents.process.flags & not_written) != 0) return true;
    const bool writes_all = (contents.process.flags & overwrites) != 0;  // readers take the newest buffer
    std::uint64_t events = 0;
    for (std::uint32_t block = 0; block < contents.buffers.size(); ++block) {
      const auto encoded = encoder_.encode(contents.process, block, contents.buffers[block]);
      for (const std::string& chunk : encoded.chunks) {
        ChunkHeader header;
        std::memcpy(&header, chunk.data(), sizeof header);
        const auto known = on_disk_->find({contents.process.process, block, header.sequence});
        const bool is_new = writes_all || known == on_disk_->end() || known->second < header.records;
        if (is_new && !file.append(chunk)) return false;
      }
      events += encoded.records;
      if (encoded.unreadable_bytes > 0)
        say(name.file + ": the last " + std::to_string(encoded.unreadable_bytes) +
            " bytes of an event buffer make no sense and were left out");
    }
    collected_.recovered_events += events;
    return true;
  }

  const RunPaths& paths_;
  const Collecting& how_;
  Owners owners_;
  std::optional<OnDisk> on_disk_;
  BufferEncoder encoder_;
  Collected collected_;
  std::uint64_t of_others_ = 0;  // segments with the key of another run
  std::uint64_t foreign_ = 0;    // files of other users
  int errno_ = 0;
};

}  // namespace

Collected collect_left(const RunPaths& paths, const Collecting& how) {
  Collector collector(paths, how);
  collector.collect_segments();
  return collector.result();
}

}  // namespace tare::reader
