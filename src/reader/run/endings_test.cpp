#include "reader/run/endings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

constexpr char run_id[] = "0123456789abcdef";

// A child process that waits for end(). It then ends by the signal, or with the exit code if the signal is 0.
class Child {
 public:
  // `pid`: the pid of the child, which only the superuser may choose; 0: any.
  Child(int signal, int code, pid_t pid = 0) {
    EXPECT_EQ(pipe(told_), 0);
    clone_args chosen{};
    chosen.exit_signal = SIGCHLD;
    chosen.set_tid = reinterpret_cast<std::uintptr_t>(&pid);
    chosen.set_tid_size = 1;
    pid_ = pid == 0 ? fork() : static_cast<pid_t>(syscall(SYS_clone3, &chosen, sizeof chosen));
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    const bool is_told = read(told_[0], &byte, 1) == 1;
    if (is_told && signal != 0) kill(getpid(), signal);
    _exit(is_told ? code : 99);
  }
  int pid() const { return pid_; }
  std::string segment(char last = '1') const {
    return std::string("tare-") + run_id + "-" + std::to_string(pid_) + "-0000000" + last;
  }
  void make_segment(const std::string& directory, char last = '1') const {
    std::ofstream(directory + "/" + segment(last)) << ' ';
  }
  // Ends the child and returns its status.
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

// Whether this process has a pidfd of the process `pid`.
bool is_watched(int pid) {
  const std::string wanted = "Pid:\t" + std::to_string(pid) + "\n";
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    std::ostringstream info;
    info << file.rdbuf();  // empty if the descriptor is closed meanwhile, where an iterator would throw
    if (info.str().find(wanted) != std::string::npos) return true;
  }
  return false;
}

TEST(EndingWatch, SaysInWhichOrderProcessesEndAndHow) {
  const synthetic::TempDir directory;
  Child survivor(0, 0);
  Child killed(SIGUSR1, 0);
  Child other(SIGKILL, 0);
  Child exited(0, 3);
  EndingWatch watch({directory.path()}, run_id, Owners(directory.path()));
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
  // Kernels before 6.15 tell the status only until the parent has waited.
  if (endings[0].status) {
    EXPECT_EQ(WEXITSTATUS(*endings[0].status), 3);
  }
  if (endings[1].status) {
    EXPECT_EQ(WTERMSIG(*endings[1].status), SIGUSR1);
  }
  EXPECT_EQ(survivor.end(), 0);
}

TEST(EndingWatch, TellsProcessesOfOneNumberApart) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to choose the number of a process";
  const synthetic::TempDir directory;
  EndingWatch watch({directory.path()}, run_id, Owners(directory.path()));
  Child first(SIGUSR1, 0);
  first.make_segment(directory.path());
  while (!is_watched(first.pid())) sched_yield();
  first.make_segment(directory.path(), '2');  // as if it had executed another program
  EXPECT_TRUE(watch.ended().empty());         // all names have been read
  first.end();
  Child second(SIGUSR2, 0, first.pid());
  ASSERT_EQ(second.pid(), first.pid());
  second.make_segment(directory.path(), '3');
  while (!is_watched(second.pid())) sched_yield();
  second.end();
  while (watch.ended().size() != 2) sched_yield();
  const auto ended = [&](char segment) { return watch.ending_of(first.segment(segment)).value_or(Ending{}); };
  EXPECT_NE(ended('1').ended_ns, 0U);
  EXPECT_EQ(ended('1').ended_ns, ended('2').ended_ns);
  EXPECT_GT(ended('3').ended_ns, ended('1').ended_ns);
  EXPECT_FALSE(watch.ending_of(first.segment('4')));
  if (ended('1').status) {  // else an older kernel
    EXPECT_EQ(WTERMSIG(*ended('1').status), SIGUSR1);
    EXPECT_EQ(WTERMSIG(*ended('3').status), SIGUSR2);
  }
}

TEST(EndingWatch, TellsTheStatusOfAProcessThatNobodyHasWaitedFor) {
  const synthetic::TempDir directory;
  Child killed(SIGTERM, 0);
  EndingWatch watch({directory.path()}, run_id, Owners(directory.path()));
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

// Every user can create files with such names in shared memory.
TEST(EndingWatch, IgnoresSegmentsOfOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be another user";
  const synthetic::TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0777), 0);
  Child foreign(0, 0);
  Child own(0, 0);
  EndingWatch watch({directory.path()}, run_id, Owners(directory.path()));
  const pid_t other = fork();
  if (other == 0) {
    if (setuid(65534) == 0) foreign.make_segment(directory.path());
    _exit(0);
  }
  ASSERT_EQ(waitpid(other, nullptr, 0), other);
  ASSERT_TRUE(std::filesystem::exists(directory.path(foreign.segment('1'))));
  own.make_segment(directory.path());
  while (!is_watched(own.pid())) sched_yield();
  EXPECT_FALSE(is_watched(foreign.pid())) << "names are read in their order";
  own.end();
  foreign.end();
}

TEST(EndingWatch, LeavesDescriptorsForTheRestOfTheProcess) {
  constexpr unsigned processes = 40;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const synthetic::TempDir directory;
  std::vector<std::unique_ptr<Child>> children;
  for (unsigned i = 0; i < processes; ++i) children.push_back(std::make_unique<Child>(0, 0));
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 150;
  {
    EndingWatch watch({directory.path()}, run_id, Owners(directory.path()));
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (const auto& child : children) child->make_segment(directory.path());
    EXPECT_TRUE(watch.ended().empty());  // all names have been read
    EXPECT_TRUE(is_watched(children.front()->pid()));
    std::vector<int> opened;
    for (int i = 0; i < 100; ++i) opened.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_GE(opened.back(), 0) << std::strerror(errno);
    for (const int fd : opened) close(fd);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const auto& child : children) child->end();
}

TEST(EndingWatch, ItsCallerMayWaitForEndsOfProcessesThatWereThereBefore) {
  const synthetic::TempDir directory;
  Child child(SIGKILL, 0);
  child.make_segment(directory.path());
  EndingWatch watch({directory.path()}, run_id, Owners(directory.path()), EndingWatch::By::caller);
  EXPECT_EQ(watch.living(), 0U);
  watch.take_present();
  EXPECT_EQ(watch.living(), 1U);
  EXPECT_TRUE(watch.ended().empty());
  child.end();
  pollfd ready{watch.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 10'000), 1);
  ASSERT_EQ(watch.ended().size(), 1U);
  EXPECT_EQ(watch.living(), 0U);
}

}  // namespace
}  // namespace tare::reader
