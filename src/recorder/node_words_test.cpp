#include "recorder/node_words.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace tare::recorder {
namespace {

TEST(NodeWords, AKeeperThatWasKilledIsReplaced) {
  char directory[] = "/tmp/tare-words-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  NodeWords* const before = node_words;
  ASSERT_TRUE(map_node_words(directory, "0123456789abcdef"));
  EXPECT_FALSE(has_keeper());
  EXPECT_TRUE(takes_on_keeper());
  EXPECT_TRUE(has_keeper());
  EXPECT_FALSE(takes_on_keeper());
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    const auto kept = static_cast<char>(note_keeper());
    (void)!::write(ready[1], &kept, 1);
    ::pause();
  }
  char kept = 0;
  EXPECT_EQ(::read(ready[0], &kept, 1), 1);
  EXPECT_EQ(kept, keeper_marked);
  EXPECT_TRUE(has_keeper());
  EXPECT_FALSE(takes_on_keeper());
  ::kill(keeper, SIGKILL);
  ::waitpid(keeper, nullptr, 0);
  EXPECT_FALSE(has_keeper());
  EXPECT_TRUE(takes_on_keeper());
  EXPECT_TRUE(has_keeper());
  EXPECT_FALSE(takes_on_keeper());
  remove_node_words();
  EXPECT_EQ(::rmdir(directory), 0);
  node_words = before;
  for (const int fd : ready) ::close(fd);
}

}  // namespace
}  // namespace tare::recorder
