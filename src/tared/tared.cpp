// tared RUN_DIRECTORY RUN_ID SEGMENT_DIRECTORY STARTER: drains the buffers of a run's processes on this node, so that
// their threads need not. STARTER is the process that started it: `tare run`, or the first one that records on a node
// without (recorder/start_tared.cpp).
//
// It takes full sub-buffers only, and copies them first: a copy is right if `drained` has not passed it since
// (format/ring.h). The chunks of a sub-buffer are the same whoever makes them, so a thread that does not wait, and
// whoever comes after a tared that was killed at any moment, writes at the worst a chunk twice, of which readers keep
// one. What it has written, it says with one compare-and-exchange of `drained`.
//
// It ends when it is told to (SIGTERM), or when neither its starter nor any process of the run is there.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "format/segment_name.h"
#include "recorder/clock.h"
#include "recorder/node_file.h"
#include "recorder/node_words.h"
#include "recorder/start_tared.h"
#include "recorder/system.h"
#include "tared/segment.h"

namespace tare::tared {
namespace {

using recorder::node_words;

volatile std::sig_atomic_t told_to_end = 0;
void on_term(int) { told_to_end = 1; }

// The processes of the run.
class Node {
 public:
  Node(std::string run_directory, std::string segment_directory, std::string run_id)
      : directories_{std::move(run_directory), std::move(segment_directory)}, run_id_(std::move(run_id)) {}

  // Finds those that have begun to record, and forgets those whose segments are gone.
  void look() {
    std::map<std::string, pid_t> paths;
    for (const std::string& directory : directories_) list(directory, paths);
    std::erase_if(segments_, [&](const auto& entry) { return !paths.contains(entry.first); });
    for (const auto& [path, pid] : paths) {
      if (segments_.contains(path)) continue;
      auto segment = std::make_unique<Segment>(path, pid);
      if (segment->is_ready()) segments_[path] = std::move(segment);
    }
  }
  bool any_alive() const {
    return std::any_of(segments_.begin(), segments_.end(), [](const auto& entry) { return entry.second->is_alive(); });
  }
  Segment::Drained drain() {
    auto result = Segment::Drained::nothing;
    for (const auto& [path, segment] : segments_) {
      const auto drained = segment->drain();
      if (drained == Segment::Drained::failed) return drained;
      if (drained == Segment::Drained::some) result = drained;
    }
    return result;
  }

 private:
  void list(const std::string& directory, std::map<std::string, pid_t>& paths) const {
    DIR* entries = opendir(directory.c_str());
    if (entries == nullptr) return;
    while (const dirent* entry = readdir(entries)) {
      const auto name = format::parse_segment_name(entry->d_name);
      if (name && name->run_id == run_id_) paths[directory + "/" + entry->d_name] = static_cast<pid_t>(name->pid);
    }
    closedir(entries);
  }

  std::set<std::string> directories_;
  std::string run_id_;
  std::map<std::string, std::unique_ptr<Segment>> segments_;  // by path
};

constexpr std::uint64_t ms = 1'000'000;

// Returns when there is nothing more to do.
void serve(Node& node, const Watched& starter) {
  constexpr std::uint64_t look_every_ns = 250 * ms;
  constexpr std::uint64_t pause_ns = 1000 * ms;  // where the disk is full
  const auto self = static_cast<std::uint32_t>(getpid());
  std::uint64_t looked = 0;
  std::uint32_t processes = 0;
  while (told_to_end == 0) {
    // Again and again: a thread that has waited in vain takes it back.
    node_words->tared.store(self, std::memory_order_relaxed);
    const std::uint32_t full = node_words->full.load(std::memory_order_acquire);
    const std::uint32_t begun = node_words->processes.load(std::memory_order_acquire);
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC);
    if (begun != processes || now - looked >= look_every_ns) {
      node.look();
      if (!starter.is_there() && !node.any_alive()) return;
      processes = begun;
      looked = now;
    }
    const auto drained = node.drain();
    if (drained == Segment::Drained::nothing) recorder::wait_on(&node_words->full, full, look_every_ns);
    if (drained == Segment::Drained::failed) {
      node_words->tared.store(0, std::memory_order_relaxed);
      recorder::wait_on(&node_words->started, 1, pause_ns);
    }
  }
}

// Keeps nothing of who started it: files, directory, signals, or, of a rank, the processor that it is bound to.
void detach(bool of_a_rank) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd <= 2; ++fd) dup2(null, fd);
  syscall(SYS_close_range, 3, ~0U, 0);
  if (chdir("/") != 0) return;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction action {};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  if (!of_a_rank) return;
  unsigned char every_processor[1024];
  std::memset(every_processor, 0xff, sizeof every_processor);
  syscall(SYS_sched_setaffinity, 0, sizeof every_processor, every_processor);
}

int run(const char* run_directory, const char* run_id, const char* segment_directory, pid_t starter) {
  recorder::choose_clock();
  recorder::open_to_group(getenv(recorder::group_variable));
  if (!recorder::map_node_words(segment_directory, run_id) && !recorder::map_node_words(run_directory, run_id))
    return 1;
  detach(node_words->started.load() != 0);
  node_words->started.store(1);
  char host[sizeof(format::ProcessRecord::host)] = "";
  gethostname(host, sizeof host - 1);
  recorder::set_node_file(run_directory, host);
  Node node(run_directory, segment_directory, run_id);
  serve(node, Watched(starter));
  node_words->tared.store(0);
  node_words->started.store(0);
  node.look();
  if (!node.any_alive()) recorder::remove_node_words();
  return 0;
}

}  // namespace
}  // namespace tare::tared

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: tared RUN_DIRECTORY RUN_ID SEGMENT_DIRECTORY STARTER\n");
    return 2;
  }
  return tare::tared::run(argv[1], argv[2], argv[3], static_cast<pid_t>(std::atol(argv[4])));
}
