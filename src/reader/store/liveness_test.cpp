// Processes that have the pid of a process that made a segment.
#include "reader/store/liveness.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>

namespace tare::reader {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr uid_t nobody = 65534;

std::uint64_t raw_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * second + static_cast<std::uint64_t>(time.tv_nsec);
}

// A child process that sleeps until the end of the scope.
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
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  unsigned pid() const { return static_cast<unsigned>(pid_); }

 private:
  pid_t pid_;
};

// The result of `sees` in a process of a user that owns nothing.
bool as_nobody(const std::function<bool()>& sees) {
  const pid_t child = fork();
  if (child == 0) _exit(setuid(nobody) != 0 ? 2 : sees() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 1;
}

TEST(Liveness, IsThatOfWhoMapsTheSegment) {
  char path[] = "/tmp/tare-liveness-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  {
    const Sleeper maps([fd] { mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0); });
    const Sleeper other;
    EXPECT_TRUE(is_alive(maps.pid(), path));
    EXPECT_TRUE(is_alive(maps.pid(), path, {getuid(), 1})) << "what maps it is it, whatever the clocks say";
    EXPECT_FALSE(is_alive(other.pid(), path)) << "its number was given to another";
    EXPECT_FALSE(is_alive(0, path));
  }
  unlink(path);
  close(fd);
}

TEST(Liveness, IsDoubtedWhereAProcessMayNotBeLookedInto) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be another user for a while";
  const std::uint64_t before = raw_ns();
  const Sleeper hidden;
  const unsigned pid = hidden.pid();
  const std::uint64_t after = raw_ns();
  EXPECT_TRUE(as_nobody([&] { return is_alive(pid, "/tare-x"); })) << "nothing is known of the one that made it";
  EXPECT_TRUE(as_nobody([&] { return is_alive(pid, "/tare-x", {nobody, after}); }));
  EXPECT_FALSE(as_nobody([&] {
    return is_alive(pid, "/tare-x", {nobody, before - 10 * second});
  })) << "it recorded before this one started";
  EXPECT_FALSE(as_nobody([&] {
    return is_alive(pid, "/tare-x", {nobody, after + 3600 * second});
  })) << "it recorded before the machine was started again";
}

TEST(Liveness, IsNotThatOfAnotherUsersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be other users for a while";
  constexpr uid_t another = nobody - 1;
  // After a process has changed its user, its files in /proc belong to the superuser until it is dumpable again.
  const Sleeper theirs([] { EXPECT_TRUE(setuid(another) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0); });
  const unsigned pid = theirs.pid();
  const std::uint64_t after = raw_ns();
  EXPECT_TRUE(as_nobody([&] { return is_alive(pid, "/tare-x", {another, after}); }));
  EXPECT_FALSE(as_nobody([&] { return is_alive(pid, "/tare-x", {nobody, after}); }));
}

}  // namespace
}  // namespace tare::reader
