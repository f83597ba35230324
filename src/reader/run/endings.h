// How and when the processes of a run end, seen from beside them, without being their parent.
//
// Says of every process of this machine that makes a segment (format/segment.h) when it died, and how, where the
// kernel tells: any Linux since 6.15, by PIDFD_GET_INFO; an older one if the process is looked at before its parent has
// waited for it. Before 5.3 nothing is known. Nothing is changed for the processes, and none of them is waited for.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tare::reader {

struct Ending {
  std::uint32_t pid = 0;
  std::uint64_t ended_ns = 0;  // CLOCK_MONOTONIC_RAW
  std::optional<int> status;   // as of waitpid()
};

class EndingWatch {
 public:
  // Watches the directories from now on, in a thread that takes no signals. Where the kernel refuses, it sees nothing.
  EndingWatch(const std::vector<std::string>& directories, const std::string& run_id);
  ~EndingWatch();
  EndingWatch(const EndingWatch&) = delete;
  EndingWatch& operator=(const EndingWatch&) = delete;

  // Those that have ended so far, in the order of their ends.
  std::vector<Ending> ended();
  // Of the one that made the segment of this name, and has no memory any more: its end is a moment away. Another one
  // may have its number by now.
  std::optional<Ending> ending_of(const std::string& segment);

 private:
  struct Watched {
    std::uint32_t pid = 0;
    std::uint64_t ended_ns = 0;  // 0: it lives
    std::optional<int> status;
    std::vector<std::string> segments;  // one for each program that it has executed
  };

  void run();
  bool take_ready();
  void take_names();
  void take(const char* segment);
  void take_end(int pidfd);

  std::string prefix_;
  int names_ = -1;   // inotify
  int events_ = -1;  // epoll
  int stopped_ = -1;
  std::mutex mutex_;                // guards what follows
  std::map<int, Watched> watched_;  // by pidfd
  std::thread thread_;
};

}  // namespace tare::reader
