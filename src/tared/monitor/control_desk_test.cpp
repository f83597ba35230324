#include "tared/monitor/control_desk.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tare::tared {
namespace {

using format::ControlMessage;
using format::ControlType;

class Desk : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "tare-desk-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + ControlDesk::file_name; }
  void ask(const std::string& text) { std::ofstream(path(), std::ios::app) << text; }
  std::string answers() const {
    std::ostringstream text;
    text << std::ifstream(directory_ + ControlDesk::answers_name).rdbuf();
    return text.str();
  }
  std::string directory_;
};

std::optional<ControlRequest> parse(const std::string& line) {
  std::string token;
  std::string error;
  auto request = parse_control(line, token, error);
  EXPECT_EQ(request.has_value(), error.empty()) << line;
  return request;
}

TEST(ControlLine, SendsTypedMessages) {
  const auto message = [](const std::string& line) { return std::get<ControlMessage>(parse(line)->wanted); };
  const ControlMessage integer = message("t1 send all integer level -7");
  EXPECT_EQ(integer.type, ControlType::integer);
  EXPECT_EQ(static_cast<std::int64_t>(integer.value), -7);
  EXPECT_EQ(integer.rank, format::all_ranks);
  EXPECT_STREQ(integer.name.data(), "level");
  const ControlMessage real = message("t1 send 3 real eps 1e-3");
  EXPECT_EQ(std::bit_cast<double>(real.value), 1e-3);
  EXPECT_EQ(real.rank, 3);
  EXPECT_STREQ(message("t1 send 0 text what do it, now").text.data(), "do it, now");
  EXPECT_STREQ(message("t1 send 0 text what ").text.data(), "");
}

TEST(ControlLine, SetsWhatMayChange) {
  const auto set =
      std::get<SetRequest>(parse("t set every=3,filter=statistics+groups:2,only=MPI_*+a,site=x=a.py:3")->wanted);
  EXPECT_EQ(set.every, 3U);
  EXPECT_EQ(set.filter, "statistics+groups:2");
  EXPECT_EQ(set.contents, "only=MPI_*+a,site=x=a.py:3");
  EXPECT_FALSE(std::get<SetRequest>(parse("t set every=1")->wanted).contents);
}

TEST(ControlLine, ThatIsWrongIsRefused) {
  const std::string long_text(65, 'x');
  for (const std::string& line : {
           std::string(""),
           std::string("t"),
           std::string("t jump"),
           std::string("../t send all integer a 1"),
           std::string("t send -1 integer a 1"),
           std::string("t send 99999999999 integer a 1"),
           std::string("t send all integer a 1x"),
           std::string("t send all integer a 99999999999999999999"),
           std::string("t send all integer a"),
           std::string("t send all real a nan"),
           std::string("t send all real a inf"),
           std::string("t send all word a b"),
           std::string("t send all text a\x1b b"),
           std::string("t send all text a b\x1b"),
           "t send all text a " + long_text,
           "t send all integer " + long_text + " 1",
           std::string("t set every=0"),
           std::string("t set every=99999999999"),
           std::string("t set filter=medians"),
           std::string("t set policy=block"),
       })
    EXPECT_FALSE(parse(line)) << line;
}

TEST_F(Desk, AnswersEachLineOnce) {
  ControlDesk desk(directory_);
  EXPECT_FALSE(desk.next()) << "there is no file";
  ask("a send all integer x 1\nb nonsense\nc set every=2\nd set ev");
  auto request = desk.next();
  ASSERT_TRUE(request);
  desk.accept(*request, 70);
  request = desk.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->token, "c");
  desk.refuse(request->token, "no\nway");
  EXPECT_FALSE(desk.next()) << "the rest is being written";
  ask("ery=4\n");
  request = desk.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<SetRequest>(request->wanted).every, 4U);
  EXPECT_FALSE(desk.next());
  EXPECT_EQ(answers(), "a ok 70\nb error 'nonsense' is no request\nc error no way\n");
}

TEST_F(Desk, SurvivesLinesThatAreTooLong) {
  ControlDesk desk(directory_);
  ask(std::string(100'000, 'x'));
  ask("\na set every=2\n");
  const auto request = desk.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->token, "a");
}

TEST_F(Desk, ReadsNoFileOfAnotherKind) {
  std::ofstream(directory_ + "/elsewhere") << "a set every=2\n";
  std::filesystem::create_symlink(directory_ + "/elsewhere", path());
  EXPECT_FALSE(ControlDesk(directory_).next());
  std::filesystem::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_FALSE(ControlDesk(directory_).next()) << "and does not wait";
}

}  // namespace
}  // namespace tare::tared
