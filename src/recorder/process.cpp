#include "recorder/process.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <string_view>

#include "recorder/borrowed_encoder.h"
#include "recorder/clock.h"
#include "recorder/configuration.h"
#include "recorder/definition_log.h"
#include "recorder/environment.h"
#include "recorder/event_types.h"
#include "recorder/inside.h"
#include "recorder/kept_directories.h"
#include "recorder/last_write.h"
#include "recorder/locations.h"
#include "recorder/maker.h"
#include "recorder/monitored.h"
#include "recorder/node_file.h"
#include "recorder/node_words.h"
#include "recorder/process_chunks.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/sources.h"
#include "recorder/spells.h"
#include "recorder/start_keeper.h"
#include "recorder/start_tared.h"
#include "recorder/system.h"
#include "recorder/thread_name.h"
#include "recorder/used_files.h"

namespace tare::recorder {
namespace {

// Plain data: needs no constructor and survives all destructors.
struct State {
  SpinLock attaching;
  bool failed;
  bool handlers_installed;
  std::atomic<std::uint32_t> attempts;  // of the program to record
  OwnRun own;                           // the run that the program itself has begun; empty strings: none
};
constinit State state{};

// For a forked child: threads and segment belong to the parent.
void in_forked_child() noexcept {
  tare_inside = not_to_be_left;
  state.attaching.reset();
  state.failed = false;
  reset_segment();
  ++state.attempts;  // the thread looks again
  reset_locations();
  reset_last_write();
  spells.reset();
  release_definition_log();
  release_event_types();
  reset_process_chunks();
  release_encoders();
  if (library_options.monitor != nullptr) library_options.monitor->forked();
  reset_thread_names();
  reset_used_files();
  tell_sources<&Source::forked>();
  tare_inside = 0;
}

void install_handlers() noexcept {
  if (state.handlers_installed) return;
  state.handlers_installed = true;
  pthread_atfork(nullptr, nullptr, in_forked_child);
  watch_end();
  watch_thread_ends();
}

// The process record has room for short paths only. There must be a segment.
void define_executable() noexcept {
  constinit static char path[PATH_MAX] = "";  // too large for the stacks of some threads
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length < static_cast<ssize_t>(sizeof format::ProcessRecord::executable)) return;
  format::ExecutableDefinition definition{};
  definition.head.kind = format::DefinitionKind::executable;
  definition.path_bytes = static_cast<std::uint32_t>(length);
  define(&definition, sizeof definition, {path, static_cast<std::size_t>(length)});
}

// Maps the memory that the processes of the run share on this node. False if there is no room for it.
bool share(const Configuration& configuration) noexcept {
  return map_node_words(configuration.segment_dir, configuration.run_id) ||
         map_node_words(configuration.run_dir, configuration.run_id);
}

// A collector has started tared before the program.
void call_or_start_tared(const Configuration& configuration, bool is_collected) noexcept {
  node_words->processes.fetch_add(1, std::memory_order_release);
  call_tared();
  if (!is_collected)
    start_tared({configuration.tared, configuration.run_dir, configuration.run_id, configuration.segment_dir,
                 configuration.drains});
}

void start_keeper_of(const Configuration& configuration) noexcept {
  start_keeper({configuration.keeper, configuration.run_dir, configuration.run_id, configuration.run_key,
                configuration.segment_dir, node_file_name()});
}

bool attach_locked(const Configuration& configuration) noexcept {
  if (configuration.run_dir == nullptr || configuration.run_id == nullptr) return false;
  choose_clock();
  open_to_group(configuration.group);
  format::SegmentHeader* created = create_segment(configuration);
  if (created == nullptr) return false;
  const bool is_collected = is_seen_by(configuration.collector, *created);
  note_directories(configuration.run_dir, configuration.segment_dir);
  char node[node_label_bytes];
  label_node(node, created->process.host, configuration.collector, "machine", created->maker.machine);
  set_node_file(configuration.run_dir, node);
  set_collected(is_collected);
  spells.begin(configuration.weigh, configuration.budget, configuration.run_id);
  records_plainly = clock_is_counter && created->offloads_at == 0;
  const bool is_kept = !is_collected && configuration.keeper != nullptr;
  const bool shared = (configuration.shares() || is_kept) && share(configuration);
  created->magic = format::segment_magic;  // set last, because from now on readers take the segment for complete
  if (shared && configuration.tared != nullptr) call_or_start_tared(configuration, is_collected);
  if (shared && is_kept) start_keeper_of(configuration);
  use_segment(created);
  define_executable();
  install_handlers();
  return true;
}

bool attach_with(const Configuration& configuration) noexcept {
  if (!may_record()) return false;
  const ErrnoGuard guard;
  {
    const Locked locked(state.attaching);
    if (segment() != nullptr) return true;
    if (!state.failed) state.failed = !attach_locked(configuration);
    if (state.failed) return false;
  }
  define_event_types();
  check_sources();
  tell_sources<&Source::begins>();
  return true;
}

}  // namespace

bool attach() noexcept {
  return attach_with(state.own.id[0] == '\0' ? configuration_from_environment() : configuration_of(state.own));
}

void note_run_directories() noexcept {
  if (segment() != nullptr) return;
  const Configuration configuration = configuration_from_environment();
  if (configuration.run_dir != nullptr) note_directories(configuration.run_dir, configuration.segment_dir);
}

bool run_given() noexcept { return environment_has_run() || state.own.id[0] != '\0'; }

bool attach_to(const OwnRun& run) noexcept {
  {
    const Locked locked(state.attaching);
    if (segment() != nullptr || state.own.id[0] != '\0') return true;
    state.own = run;
    state.failed = false;  // threads that found no run look again
    ++state.attempts;
  }
  return attach_with(configuration_of(state.own));
}

bool is_launcher() noexcept {
  const std::string_view name(program_invocation_short_name);
  for (const std::string_view begin : {"mpiexec", "mpirun", "hydra_", "orte", "prte"})
    if (name.starts_with(begin)) return true;
  for (const std::string_view known : {"orted", "prun", "srun", "slurmstepd", "sh", "bash", "dash", "zsh", "ksh"})
    if (name == known) return true;
  return false;
}

std::uint32_t attempts() noexcept { return state.attempts; }

}  // namespace tare::recorder
