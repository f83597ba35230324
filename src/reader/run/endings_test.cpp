#include "reader/run/endings.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

constexpr char run_id[] = "0123456789abcdef";

// A child that waits until it is told, and ends by the signal, or with the code if that is 0.
class Child {
 public:
  Child(int signal, int code) {
    EXPECT_EQ(pipe(told_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    const bool is_told = read(told_[0], &byte, 1) == 1;
    if (is_told && signal != 0) kill(getpid(), signal);
    _exit(is_told ? code : 99);
  }
  int pid() const { return pid_; }
  void make_segment(const std::string& directory) const {
    std::ofstream(directory + "/tare-" + run_id + "-" + std::to_string(pid_) + "-00000001") << ' ';
  }
  // Returns its status.
  int end() {
    EXPECT_EQ(write(told_[1], "x", 1), 1);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  int told_[2] = {-1, -1};
  pid_t pid_ = 0;
};

// Whether this process holds a file descriptor of that one.
bool is_watched(int pid) {
  const std::string wanted = "Pid:\t" + std::to_string(pid) + "\n";
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    if (std::string(std::istreambuf_iterator<char>(file), {}).find(wanted) != std::string::npos) return true;
  }
  return false;
}

TEST(EndingWatch, SaysInWhichOrderProcessesEndAndHow) {
  const synthetic::TempDir directory;
  Child survivor(0, 0);
  Child killed(SIGUSR1, 0);
  Child other(SIGKILL, 0);
  Child exited(0, 3);
  EndingWatch watch({directory.path()}, run_id);
  for (const Child* each : {&survivor, &killed, &exited}) each->make_segment(directory.path());
  for (const Child* each : {&survivor, &killed, &exited})
    while (!is_watched(each->pid())) sched_yield();
  EXPECT_FALSE(is_watched(other.pid())) << "it has no segment";
  exited.end();
  while (watch.ended().size() != 1) sched_yield();
  killed.end();
  other.end();
  while (watch.ended().size() != 2) sched_yield();
  const std::vector<Ending> endings = watch.ended();
  ASSERT_EQ(endings.size(), 2U);
  EXPECT_EQ(endings[0].pid, static_cast<std::uint32_t>(exited.pid()));
  EXPECT_EQ(endings[1].pid, static_cast<std::uint32_t>(killed.pid()));
  EXPECT_LE(endings[0].ended_ns, endings[1].ended_ns);
  // Kernels before 6.15 tell it only if the parent is late.
  if (endings[0].status) {
    EXPECT_EQ(WEXITSTATUS(*endings[0].status), 3);
  }
  if (endings[1].status) {
    EXPECT_EQ(WTERMSIG(*endings[1].status), SIGUSR1);
  }
  EXPECT_EQ(survivor.end(), 0);
}

TEST(EndingWatch, TellsTheStatusOfAProcessThatNobodyHasWaitedFor) {
  const synthetic::TempDir directory;
  Child killed(SIGTERM, 0);
  EndingWatch watch({directory.path()}, run_id);
  killed.make_segment(directory.path());
  while (!is_watched(killed.pid())) sched_yield();
  kill(killed.pid(), SIGTERM);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(killed.pid()), &info, WEXITED | WNOWAIT), 0);
  const std::vector<Ending> endings = watch.ended();
  ASSERT_EQ(endings.size(), 1U);
  ASSERT_TRUE(endings[0].status);
  EXPECT_EQ(WTERMSIG(*endings[0].status), SIGTERM);
  killed.end();
}

}  // namespace
}  // namespace tare::reader
