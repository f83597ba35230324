// keeper RUN_DIRECTORY RUN_ID SEGMENT_DIRECTORY FILE: collects what killed processes of a run leave on a node on which
// no `tare run` does so, into FILE in the run directory. The first process that records there starts it
// (recorder/start_keeper.h). TARE_RUN_KEY has the key of the run.
//
// Processes that end by themselves write their results themselves. The keeper sleeps until one of them has died and
// then collects. It ends when none is left. On SIGTERM, which a batch system sends before SIGKILL, it also writes what
// living processes have recorded so far, and again after twice the time, as long as they live: SIGKILL may come for all
// at once. It also answers `tare where` on other nodes, which calls its processes are in.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "format/segment_name.h"
#include "reader/run/answers.h"
#include "reader/run/endings.h"
#include "reader/run/left_segments.h"
#include "reader/store/owners.h"
#include "reader/store/run_directory.h"
#include "recorder/node_words.h"
#include "recorder/start_keeper.h"

namespace tare::keeper {
namespace {

using recorder::node_words;

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t first_save_after_ns = second_ns;     // after the one at once
constexpr std::int64_t look_every_ns = 10 * second_ns;      // although nothing was told
constexpr std::int64_t look_again_ns = second_ns / 4;       // at processes of which nothing is told
constexpr std::int64_t questions_every_ns = 5 * second_ns;  // python/tare/runs/asking.py waits for that
constexpr std::int64_t more_questions_ns = second_ns / 4;   // a question is often followed by another,
constexpr std::int64_t attentive_ns = 3 * second_ns;        // within that time
constexpr std::int64_t patience_ns = 30 * second_ns;        // with a run directory that cannot be written
volatile std::sig_atomic_t terms = 0;

void on_term(int) { terms = terms + 1; }

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second_ns + time.tv_nsec;
}

// Drops what was inherited: files, directory, signals, the binding to a processor.
void detach() {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; null >= 0 && fd <= 2; ++fd) dup2(null, fd);
  syscall(SYS_close_range, 3, ~0U, 0);
  if (chdir("/") != 0) return;
  struct sigaction action {};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) signal(number, SIG_IGN);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_SETMASK, &term, nullptr);  // received in ppoll() alone
  unsigned char every_processor[1024];
  std::memset(every_processor, 0xff, sizeof every_processor);
  syscall(SYS_sched_setaffinity, 0, sizeof every_processor, every_processor);
}

// The name of a file without .tare.
std::string stem(const std::string& file) { return file.substr(0, file.rfind('.')); }

// A file in the run directory, as long as this process works: `tare run` waits for its end, and who asks asks whom
// there is a note of.
class Note {
 public:
  Note(const std::string& run_dir, const std::string& file)
      : run_dir_(run_dir), name_(".keeping-" + stem(file)), path_(run_dir + "/" + name_) {
    make();
  }
  ~Note() { unlink(path_.c_str()); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

  // Makes it unless it is there.
  void make() const {
    const auto directory = reader::RunDirectory::open(run_dir_);
    if (directory) (void)directory->open_file(name_, O_WRONLY | O_CREAT);
  }

 private:
  std::string run_dir_;
  std::string name_;  // no .tare: readers would look into it
  std::string path_;
};

class Keeper {
 public:
  Keeper(const reader::RunPaths& paths, std::string file)
      : paths_(paths),
        file_(std::move(file)),
        watch_(reader::segment_directories(paths), paths.run_id, reader::Owners(paths.run_dir),
               reader::EndingWatch::By::caller),
        note_(paths.run_dir, file_),
        respondent_(paths, stem(file_), as_found()) {
    watch_.take_present();
  }

  // Returns when no process of the run is left here, or nothing more can be written.
  void serve() {
    std::int64_t unwritten_since = 0;
    for (;;) {
      const reader::Collected left = collect(has_to_save());
      if (left.kept == 0) unwritten_since = 0;
      if (left.kept != 0 && unwritten_since == 0) unwritten_since = now_ns();
      const bool lives = watch_.living() + left.running + left.unknown != 0;
      if (!lives && (left.kept == 0 || now_ns() - unwritten_since > patience_ns)) return;
      const bool is_told = left.kept == 0 && watch_.living() >= left.running + left.unknown;
      sleep(is_told ? look_every_ns : look_again_ns);
    }
  }

  bool any_lives() { return watch_.living() != 0; }

 private:
  // Whether what living processes have recorded is to be written now.
  bool has_to_save() {
    if (terms == 0) return false;
    const std::int64_t now = now_ns();
    if (terms == terms_ && now < next_save_) return false;
    pause_ = terms == terms_ ? 2 * pause_ : first_save_after_ns;
    terms_ = terms;
    next_save_ = now + pause_;
    return true;
  }

  // What is known here of processes.
  reader::Collecting as_found() {
    reader::Collecting how;
    how.waits_for_beginners = true;
    how.ending_of = [this](const reader::SegmentName& segment) { return watch_.ending_of(segment.file); };
    return how;
  }

  reader::Collected collect(bool saves_living) {
    reader::Collecting how = as_found();
    how.saves_living = saves_living;
    how.file = file_;
    return reader::collect_left(paths_, how);
  }

  // Until a process ends or begins, SIGTERM comes, something is to be saved, or at most for so long. Answers meanwhile.
  void sleep(std::int64_t most_ns) {
    const std::int64_t until = now_ns() + most_ns;
    for (;;) {
      std::int64_t now = now_ns();
      if (now >= next_question_) {
        if (respondent_.answer()) attentive_until_ = now + attentive_ns;
        // With the notes of keepers that are dead, which cannot be told apart, this one was removed.
        if (respondent_.is_forgotten()) note_.make();
        now = now_ns();
        next_question_ = now + (now < attentive_until_ ? more_questions_ns : questions_every_ns);
      }
      std::int64_t end = until;
      if (terms != 0) end = std::min(end, next_save_);
      const std::int64_t wait = std::max<std::int64_t>(std::min(end, next_question_) - now, 0);
      const timespec most{wait / second_ns, wait % second_ns};
      sigset_t none;
      sigemptyset(&none);
      pollfd ready{watch_.fd(), POLLIN, 0};
      if (ppoll(&ready, 1, &most, &none) != 0 || now_ns() >= end) break;
    }
    (void)watch_.ended();
  }

  const reader::RunPaths& paths_;
  std::string file_;
  reader::EndingWatch watch_;
  Note note_;
  reader::Respondent respondent_;
  std::int64_t next_question_ = now_ns();
  std::int64_t attentive_until_ = 0;
  std::sig_atomic_t terms_ = 0;
  std::int64_t pause_ = first_save_after_ns;
  std::int64_t next_save_ = 0;
};

int run(const reader::RunPaths& paths, const std::string& file) {
  if (!format::is_run_id(paths.run_id)) return 2;
  detach();
  const char* run_id = paths.run_id.c_str();
  if (!recorder::map_node_words(paths.segment_dir.c_str(), run_id) &&
      !recorder::map_node_words(paths.run_dir.c_str(), run_id))
    return 1;
  const recorder::Kept kept = recorder::note_keeper();
  Keeper keeper(paths, file);
  do {
    keeper.serve();
    node_words->kept.store(recorder::not_kept);
    // A process that has begun meanwhile has started no other.
  } while (keeper.any_lives() && node_words->kept.exchange(kept) == recorder::not_kept);
  if (!keeper.any_lives()) recorder::remove_node_words();
  return 0;
}

}  // namespace
}  // namespace tare::keeper

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const char* key = std::getenv(tare::recorder::run_key_variable);
  return tare::keeper::run({argv[1], argv[3], argv[2], "", false, key == nullptr ? "" : key}, argv[4]);
}
