// tared RUN_DIRECTORY RUN_ID SEGMENT_DIRECTORY STARTER JOB: the process that serves all processes of a run on a node.
// STARTER is the process that started it: `tare run`, or, on a node without that, the first process that records
// (recorder/start_tared.cpp).
//
//   drain     drains their buffers (drain/)
// monitor   monitors them (monitor/), as TARE_MONITOR says; also done by `drain` if that variable is set
//
// tared --can-listen WHERE: tests whether a node of the tree can bind that address here (`listen=`); if not, a line on
// stderr gives the reason. tared --can-filter FILTER: the same for a filter (`filter=`).
//
// It ends on SIGTERM, when it has taken what is left, and at once on a second one; or when neither its starter nor any
// process of the run exists.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "format/machine.h"
#include "format/number.h"
#include "format/process_record.h"
#include "recorder/clock.h"
#include "recorder/maker.h"
#include "recorder/node_file.h"
#include "recorder/node_words.h"
#include "recorder/start_tared.h"
#include "recorder/system.h"
#include "tared/filters/filter.h"
#include "tared/job.h"
#include "tared/tree/bindable.h"

namespace tare::tared {

volatile std::sig_atomic_t has_to_end = 0;

namespace {

using recorder::node_words;

volatile std::sig_atomic_t monitoring = 0;  // process id of the process that monitors; 0: this one does, or none does

void on_term(int) {
  has_to_end = has_to_end + 1;
  if (monitoring != 0) kill(monitoring, SIGTERM);
}

// Peers of the tree use descriptors (tree/downlink.h), and ranks usually leave the limit low.
void allow_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Drops what was inherited: files, directory, signals, and, from a rank, the binding to a processor.
void detach(bool of_a_rank) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd <= 2; ++fd) dup2(null, fd);
  syscall(SYS_close_range, 3, ~0U, 0);
  allow_descriptors();
  if (chdir("/") != 0) return;
  struct sigaction action {};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  // Only now: whoever starts this process blocks SIGTERM, so that it is not ended before it can end in order.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!of_a_rank) return;
  unsigned char every_processor[1024];
  std::memset(every_processor, 0xff, sizeof every_processor);
  syscall(SYS_sched_setaffinity, 0, sizeof every_processor, every_processor);
}

// Monitors in a process of its own: whatever happens to the tree, draining goes on.
void begin_monitoring(const Job& job, const char* spec, const char* node, bool is_first) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_UNBLOCK, &term, nullptr);
    _exit(getppid() == parent && monitor(job, spec, node, is_first) ? 0 : 1);
  }
  if (process > 0) monitoring = process;
  sigprocmask(SIG_UNBLOCK, &term, nullptr);
}

// False if it failed.
bool end_monitoring() {
  if (monitoring == 0) return false;
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(monitoring, &status, 0);
  while (ended < 0 && errno == EINTR);
  monitoring = 0;
  return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run(const RunPlaces& places, pid_t starter, bool drains) {
  recorder::choose_clock();
  recorder::open_to_group(getenv(recorder::group_variable));
  const char* run_id = places.run_id.c_str();
  if (!recorder::map_node_words(places.segment_directory.c_str(), run_id) &&
      !recorder::map_node_words(places.run_directory.c_str(), run_id))
    return 1;
  const bool is_first = node_words->started.load() == 0;
  detach(!is_first);
  node_words->started.store(1);
  char host[sizeof(format::ProcessRecord::host)] = "";
  gethostname(host, sizeof host - 1);
  const char* collector = getenv(recorder::collector_variable);
  char node[recorder::node_label_bytes];
  recorder::label_node(node, host, collector, "machine", format::machine_name());
  recorder::set_node_file(places.run_directory.c_str(), node);
  // Of the monitor's files, each has one writer.
  const char* memory = places.segment_directory.c_str();
  recorder::label_node(node, host, collector, "memory", format::shared_memory_name(memory));
  const Watched watched(starter);
  const Job job{places, watched};
  const char* spec = getenv(recorder::monitor_variable);
  bool has_monitored = true;
  if (spec != nullptr && drains) begin_monitoring(job, spec, node, is_first);
  if (drains) drain(job);
  if (spec != nullptr) has_monitored = drains ? end_monitoring() : monitor(job, spec, node, is_first);
  node_words->started.store(0);
  Processes<OpenSegment> left(places);
  left.look();
  if (!left.any_alive()) recorder::remove_node_words();
  return has_monitored ? 0 : 1;
}

}  // namespace
}  // namespace tare::tared

namespace {

pid_t starter_of(const char* text) {
  std::uint64_t number = 0;
  return tare::format::parse_count(text, number) && number <= INT_MAX ? static_cast<pid_t>(number) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--can-listen") {
    const std::string why = tare::tared::why_not_bound(argv[2]);
    if (!why.empty()) std::fprintf(stderr, "%s\n", why.c_str());
    return why.empty() ? 0 : 1;
  }
  if (argc == 3 && std::string_view(argv[1]) == "--can-filter") {
    std::string why;
    if (tare::tared::make_filter(argv[2], why) != nullptr) return 0;
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const std::string job = argc == 6 ? argv[5] : "";
  if (job != "drain" && job != "monitor") {
    std::fprintf(stderr, "usage: tared RUN_DIRECTORY RUN_ID SEGMENT_DIRECTORY STARTER drain|monitor\n");
    return 2;
  }
  return tare::tared::run({argv[1], argv[3], argv[2]}, starter_of(argv[4]), job == "drain");
}
