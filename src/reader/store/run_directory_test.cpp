#include "reader/store/run_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using synthetic::TempDir;

constexpr uid_t somebody = 12345;
constexpr uid_t somebody_else = 12346;

class RunDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_.write("a.tare", "a");
    ASSERT_EQ(::mkdir(run_.path("tree").c_str(), 0700), 0);
    run_.write("tree/requests", "r");
    outside_.write("secret", "precious");
  }

  bool opens(const std::string& name, int flags = O_RDONLY) const {
    const auto directory = RunDirectory::open(run_.path());
    return directory && directory->open_file(name, flags);
  }
  std::string reason(const std::string& name, int flags = O_RDONLY) const {
    return RunDirectory::open(run_.path())->open_file(name, flags).error();
  }

  TempDir run_;
  TempDir outside_;
};

TEST_F(RunDirectoryTest, OpensItsFiles) {
  EXPECT_TRUE(opens("a.tare"));
  EXPECT_TRUE(opens("tree/requests", O_WRONLY | O_APPEND));
  EXPECT_FALSE(opens("missing"));
  EXPECT_EQ(errno, ENOENT);
  run_.write(".tare", "");
  run_.write("b.tare", "");
  EXPECT_EQ(*RunDirectory::open(run_.path())->names(".tare"), (std::vector<std::string>{"a.tare", "b.tare"}));
}

TEST_F(RunDirectoryTest, TheWayToItMayLeadThroughLinks) {
  ASSERT_EQ(::symlink(run_.path().c_str(), outside_.path("link").c_str()), 0);
  EXPECT_TRUE(RunDirectory::open(outside_.path("link"))->open_file("tree/requests"));
}

TEST_F(RunDirectoryTest, FollowsNoLinkBelowIt) {
  ASSERT_EQ(::symlink(outside_.path("secret").c_str(), run_.path("link.tare").c_str()), 0);
  ASSERT_EQ(::symlink(outside_.path().c_str(), run_.path("way").c_str()), 0);
  ASSERT_EQ(::symlink("a.tare", run_.path("here.tare").c_str()), 0);
  for (const char* name : {"link.tare", "way/secret", "here.tare"}) {
    EXPECT_FALSE(opens(name)) << name;
    EXPECT_EQ(errno, EPERM) << name;
    EXPECT_NE(reason(name).find("is a symbolic link"), std::string::npos) << reason(name);
    EXPECT_FALSE(opens(name, O_WRONLY | O_CREAT | O_APPEND)) << name;
  }
  for (const char* name : {"../secret", "tree/../a.tare", "./a.tare", "tree//requests", "/etc/passwd", ""})
    EXPECT_FALSE(opens(name)) << name;
}

TEST_F(RunDirectoryTest, WaitsForNoPipe) {
  ASSERT_EQ(::mkfifo(run_.path("pipe.tare").c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR}) {
    EXPECT_FALSE(opens("pipe.tare", flags));
    EXPECT_NE(reason("pipe.tare", flags).find("is not a regular file"), std::string::npos);
  }
  EXPECT_FALSE(opens("tree"));
  EXPECT_FALSE(opens("tree", O_WRONLY));
}

TEST_F(RunDirectoryTest, WritesToNoFileThatIsElsewhereToo) {
  ASSERT_EQ(::link(outside_.path("secret").c_str(), run_.path("b.tare").c_str()), 0);
  EXPECT_TRUE(opens("b.tare")) << "backups are made of such links";
  EXPECT_FALSE(opens("b.tare", O_WRONLY | O_APPEND));
  EXPECT_EQ(errno, EPERM);
}

TEST_F(RunDirectoryTest, RootReadsWhatIsTheOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(run_.path().c_str(), somebody, somebody), 0);
  EXPECT_FALSE(opens("a.tare")) << "a link to a file of root would be read";
  ASSERT_EQ(::chown(run_.path("a.tare").c_str(), somebody, somebody), 0);
  EXPECT_TRUE(opens("a.tare"));
  EXPECT_TRUE(opens("new.tare", O_WRONLY | O_CREAT | O_APPEND));
  struct stat status {};
  ASSERT_EQ(::stat(run_.path("new.tare").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, somebody) << "who could not read it otherwise";
}

// What a user sees, in a process of that user.
TEST_F(RunDirectoryTest, AnothersRunHasToBeGiven) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody";
  ASSERT_EQ(::chown(run_.path().c_str(), somebody, somebody), 0);
  ASSERT_EQ(::chown(run_.path("a.tare").c_str(), somebody, somebody), 0);
  ASSERT_EQ(::chmod(run_.path("a.tare").c_str(), 0644), 0);
  const auto opens_as = [&](uid_t user, mode_t mode) {
    EXPECT_EQ(::chmod(run_.path().c_str(), mode), 0);
    EXPECT_EQ(::setegid(somebody), 0);
    EXPECT_EQ(::seteuid(user), 0);
    const bool opened = opens("a.tare");
    EXPECT_EQ(::seteuid(0), 0);
    EXPECT_EQ(::setegid(0), 0);
    return opened;
  };
  EXPECT_TRUE(opens_as(somebody, 0700));
  EXPECT_TRUE(opens_as(somebody, 0755));
  EXPECT_FALSE(opens_as(somebody_else, 0700));
  EXPECT_TRUE(opens_as(somebody_else, 0750)) << "given to the group";
  EXPECT_FALSE(opens_as(somebody_else, 0755)) << "left open to everybody";
  ASSERT_EQ(::chown(run_.path("a.tare").c_str(), somebody_else, somebody), 0);
  EXPECT_FALSE(opens_as(somebody, 0700)) << "a file of another user";
}

}  // namespace
}  // namespace tare::reader
