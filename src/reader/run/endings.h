// Observes when and how the processes of a run end, without being their parent.
//
// It knows the processes of this machine that make a segment (format/segment.h), and opens a pidfd of each. The time of
// an end needs Linux 5.3. The exit status needs Linux 6.15 (PIDFD_GET_INFO); an older kernel tells it only until the
// parent has waited for the process. The processes are not affected, and none of them is waited for.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "reader/store/owners.h"

namespace tare::reader {

struct Ending {
  std::uint32_t pid = 0;
  std::uint64_t ended_ns = 0;  // CLOCK_MONOTONIC_RAW
  std::optional<int> status;   // as waitpid() returns it; nothing: not known
};

// Thread-safe.
class EndingWatch {
 public:
  // Watches the directories for new segments of the run from now on, in a thread that blocks all signals; with
  // By::caller, without a thread: call ended() when fd() is readable. If the kernel
  // refuses (inotify, epoll), it observes nothing. Files of owners that are not trusted are ignored. Where the process
  // may open so few files that others of its parts would find none left, it does not observe the processes that come
  // last.
  enum class By { thread, caller };
  EndingWatch(const std::vector<std::string>& directories, const std::string& run_id, const Owners& owners,
              By by = By::thread);
  ~EndingWatch();
  EndingWatch(const EndingWatch&) = delete;
  EndingWatch& operator=(const EndingWatch&) = delete;

  // Watches the processes of the segments that are there already, too.
  void take_present();
  // Readable (poll) when a process has ended or begun.
  int fd() const { return events_; }
  // The number of watched processes that run.
  std::size_t living();

  // The processes that have ended so far, in the order of their ends.
  std::vector<Ending> ended();
  // The end of the process that made the segment of this name; nothing if it is not known. For a process that no longer
  // maps the segment: waits up to 200 ms until its pidfd tells its end. A process that reuses the pid is not taken for
  // it.
  std::optional<Ending> ending_of(const std::string& segment);

 private:
  struct Watched {
    std::uint32_t pid = 0;
    std::uint64_t ended_ns = 0;  // 0: it is running
    std::optional<int> status;
    std::vector<std::string> segments;  // one for each program that it has executed
  };

  void run();
  bool take_ready();
  void take_names();
  void take(const char* segment);
  bool is_trusted(int directory, const char* segment) const;
  void take_end(int pidfd);

  std::string prefix_;
  Owners owners_;
  std::map<int, std::string> directories_;  // by inotify's number
  int names_ = -1;                          // inotify
  int events_ = -1;                         // epoll
  int stopped_ = -1;                        // eventfd that ends the thread
  std::mutex mutex_;                        // guards watched_
  std::map<int, Watched> watched_;          // by pidfd
  std::thread thread_;
};

}  // namespace tare::reader
