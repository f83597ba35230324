// What is known of the process that made a segment.
#include "format/liveness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "format/machine.h"

namespace tare::format {
namespace {

// Keeps the lock of the file as the recorder does (recorder/system.cpp): by a mapping alone.
void mark(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (fcntl(fd, F_OFD_SETLK, &lock) != 0) _exit(3);
  if (madvise(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), 4096, MADV_DONTFORK) != 0) _exit(4);
  close(fd);
}

// A child process that does something and then sleeps until the end of the scope.
class Sleeper {
 public:
  explicit Sleeper(const std::function<void()>& first = [] {}) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      first();
      const bool told = write(ready[1], "", 1) == 1;
      while (told) pause();
      _exit(1);
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~Sleeper() { kill(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  unsigned pid() const { return static_cast<unsigned>(pid_); }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

class Liveness : public ::testing::Test {
 protected:
  Liveness() : fd_(mkstemp(path_)) { EXPECT_EQ(ftruncate(fd_, 4096), 0); }
  ~Liveness() override {
    unlink(path_);
    close(fd_);
  }
  Life life(unsigned pid, const Maker& maker) const { return life_of(fd_, path_, pid, maker); }
  void map() const { mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd_, 0); }

  // A maker in this PID namespace, and in one that this process does not see.
  static Maker here(std::uint64_t is_marked) { return {machine_name(), pid_namespace_name(), 0, is_marked}; }
  static Maker in_a_container(std::uint64_t is_marked) { return {machine_name(), 1, 0, is_marked}; }
  static constexpr Maker elsewhere{1, 1, 0, 1};

  char path_[32] = "/tmp/tare-liveness-XXXXXX";
  int fd_;
};

TEST_F(Liveness, IsThatOfWhoHoldsTheMark) {
  // It has closed the file, and has a child that goes on.
  int children[2];
  ASSERT_EQ(pipe(children), 0);
  pid_t child = 0;
  Sleeper marks([&] {
    mark(path_);
    close(fd_);
    child = fork();
    while (child == 0) pause();
    const bool told = write(children[1], &child, sizeof child) == sizeof child;
    if (!told) _exit(5);
  });
  EXPECT_EQ(read(children[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(is_marked(fd_));
  EXPECT_EQ(life(marks.pid(), here(1)), Life::lives);
  EXPECT_EQ(life(1, in_a_container(1)), Life::lives) << "its number means nothing here";
  EXPECT_EQ(life(1, elsewhere), Life::lives);
  EXPECT_EQ(life_of_beginner(fd_, path_, 0), Life::lives);
  const unsigned pid = marks.pid();
  marks.kill();
  EXPECT_FALSE(is_marked(fd_));
  EXPECT_EQ(life(pid, here(1)), Life::gone);
  EXPECT_EQ(life(1, in_a_container(1)), Life::gone) << "whatever the process is that has the number here";
  EXPECT_EQ(life(1, elsewhere), Life::unknown) << "locks of other machines may not be seen";
  kill(child, SIGKILL);
  close(children[0]);
  close(children[1]);
}

TEST_F(Liveness, WithoutAMarkIsThatOfWhoMapsTheSegment) {
  const Sleeper maps([this] { map(); });
  const Sleeper other;
  EXPECT_EQ(life(maps.pid(), here(0)), Life::lives);
  EXPECT_EQ(life(other.pid(), here(0)), Life::gone) << "its number was given to another";
  EXPECT_EQ(life(0, here(0)), Life::gone);
  EXPECT_EQ(life_of_beginner(fd_, path_, maps.pid()), Life::lives);
  EXPECT_EQ(life_of_beginner(fd_, path_, other.pid()), Life::gone);
}

TEST_F(Liveness, IsNotKnownWithoutAMarkWherePidsMeanOthers) {
  const Sleeper maps([this] { map(); });
  EXPECT_EQ(life(maps.pid(), in_a_container(0)), Life::unknown);
  EXPECT_EQ(life(maps.pid(), {machine_name(), 0, 0, 0}), Life::unknown);
}

TEST_F(Liveness, IsNotThatOfAProcessThatStartedAtAnotherTime) {
  const Sleeper marks([this] { mark(path_); });
  Maker maker = here(1);
  maker.start_ticks = 1;
  EXPECT_EQ(life(marks.pid(), maker), Life::gone) << "a child may have inherited the mark";
}

TEST_F(Liveness, IsThatOfAProcessWhoseFirstThreadHasEnded) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    mark(path_);
    std::thread([&] {
      std::string state;
      while (state.find(") Z") == std::string::npos) {
        std::ifstream stat("/proc/" + std::to_string(getpid()) + "/stat");
        std::getline(stat, state);
      }
      const bool told = write(ready[1], "", 1) == 1;
      while (told) pause();
    }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(life(static_cast<unsigned>(pid), here(1)), Life::lives);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(life(static_cast<unsigned>(pid), here(1)), Life::gone);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Liveness, EndsWithAnotherProgram) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    mark(path_);
    dup2(ready[1], 1);
    execl("/bin/sh", "sh", "-c", "echo; exec sleep 600", nullptr);
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(life(static_cast<unsigned>(pid), here(1)), Life::gone);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Liveness, TellsWhoIsStopped) {
  const Sleeper sleeps;
  EXPECT_FALSE(is_stopped(sleeps.pid(), here(1)));
  ASSERT_EQ(kill(static_cast<pid_t>(sleeps.pid()), SIGSTOP), 0);
  ASSERT_EQ(waitpid(static_cast<pid_t>(sleeps.pid()), nullptr, WUNTRACED), static_cast<pid_t>(sleeps.pid()));
  EXPECT_TRUE(is_stopped(sleeps.pid(), here(1)));
  EXPECT_FALSE(is_stopped(sleeps.pid(), in_a_container(1))) << "it is another that has this number here";
}

TEST(Machine, HasTheSameNameForAll) {
  EXPECT_NE(machine_name(), 0U);
  EXPECT_EQ(machine_name(), machine_name());
  EXPECT_NE(pid_namespace_name(), 0U);
  EXPECT_NE(shared_memory_name("/dev"), shared_memory_name("/proc"));
  EXPECT_EQ(shared_memory_name("/no/such/directory"), 0U);
}

}  // namespace
}  // namespace tare::format
