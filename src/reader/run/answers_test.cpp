#include "reader/run/answers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "reader/run/current_calls.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessRecord;
using format::ProcessState;

// 16 hexadecimal digits.
const std::string question = "00112233445566aa";
const std::string other_question = "00112233445566bb";

class AnswersTest : public ::testing::Test {
 protected:
  AnswersTest() { run_dir_.write(questions_file, ""); }
  RunPaths here() const { return {run_dir_.path(), segment_dir_.path(), run_id}; }
  // The run as a node sees it that has no segments.
  Result<reader::Run> elsewhere(std::vector<std::string> answers) const {
    return reader::Run::open({run_dir_.path(), elsewhere_.path(), run_id, "", true, "", std::move(answers)});
  }
  void ask(const std::string& text) { run_dir_.write(questions_file, run_dir_.read(questions_file) + text); }
  std::string file(const std::string& asked = question) {
    std::string name = ".seen-" + asked + "-node1";
    if (!run_dir_.has(name)) run_dir_.write(name, "");
    return name;
  }
  ProcessRecord living() const {
    ProcessRecord process = process_record(1, ProcessState::running, static_cast<unsigned>(::getpid()));
    process.end = process.finalize_enter = process.finalize_leave = 0;
    return process;
  }
  void fill(Segment& segment) {
    segment.define(python_site_definition(1, "a.py", "f", 3));
    segment.add_location();
    segment.add_row(0, profile_row("MPI_Send", 1, 5, 1000, 80));
    segment.location(0).current.function = function_number("MPI_Recv");
    segment.location(0).current.enter = 6000;
  }

  TempDir run_dir_, segment_dir_, elsewhere_;
};

TEST_F(AnswersTest, AnotherNodeSeesTheCallThatALivingProcessIsIn) {
  Segment segment(segment_dir_, living());
  fill(segment);
  segment.add_record(0, bytes_of(call_record("MPI_Send", 1, 3000, 3005)));
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  EXPECT_FALSE(respondent.answer()) << "nobody has asked";
  const std::string answer = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  EXPECT_FALSE(respondent.answer()) << "each question is answered once";
  EXPECT_TRUE(run_dir_.read(answer).ends_with(end_of_answer));
  EXPECT_TRUE(segment_dir_.has(segment.name())) << "nothing was moved";

  EXPECT_TRUE(elsewhere({})->processes().empty());
  auto run = elsewhere({answer});
  ASSERT_TRUE(run) << run.error();
  EXPECT_TRUE(run->warnings().empty()) << run->warnings()[0];
  ASSERT_EQ(run->processes().size(), 1U);
  const Process& process = run->processes()[0];
  EXPECT_EQ(process.state, State::running);
  EXPECT_FALSE(process.stopped);
  EXPECT_GT(process.end, 6000U) << "the time of the answer";
  EXPECT_TRUE(process.events.empty());
  const auto calls = current_calls(*run);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_TRUE(calls[0].inside);
  EXPECT_EQ(run->functions().name(calls[0].function), "MPI_Recv");
  EXPECT_EQ(run->profile_sums({.function = true}).at(0).calls, 5U);
  auto orphaned = reader::Run::open({run_dir_.path(), "", run_id, "", false, "", {answer}});
  ASSERT_TRUE(orphaned) << orphaned.error();
  EXPECT_EQ(orphaned->processes().at(0).state, State::running) << "also if nobody will say how the run ended";
}

TEST_F(AnswersTest, ADeadProcessIsToldToHaveDied) {
  ProcessRecord process = living();
  process.pid = dead_pid();
  Segment segment(segment_dir_, process);
  fill(segment);
  const RunPaths paths = here();
  Collecting how;
  how.ending_of = [](const SegmentName& name) { return std::optional<Ending>({name.pid, 6200, SIGSEGV}); };
  Respondent respondent(paths, "node1", how);
  const std::string answer = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  EXPECT_TRUE(segment_dir_.has(segment.name()));
  auto run = elsewhere({answer});
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->processes().at(0).state, State::killed);
  EXPECT_EQ(format::signal_of(run->processes()[0].record), SIGSEGV);
}

TEST_F(AnswersTest, WhatTheRunHasOfAnEndIsNewer) {
  Segment segment(segment_dir_, living());
  fill(segment);
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  const std::string answer = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  ProcessRecord ended = living();
  ended.process = segment.header().process.process;
  ended.state = ProcessState::exited;
  ended.end = 9000;
  run_dir_.write("node1.tare", functions_chunk() + process_chunk(ended) +
                                   profile_chunk(ended, 0, {profile_row("MPI_Send", 1, 7, 1000, 80)}));
  auto run = elsewhere({answer});
  ASSERT_TRUE(run) << run.error();
  ASSERT_EQ(run->processes().size(), 1U);
  EXPECT_EQ(run->processes()[0].state, State::finished);
  EXPECT_EQ(run->profile_sums({.function = true}).at(0).calls, 7U);
}

TEST_F(AnswersTest, ASegmentOfAnotherMachineIsLeftToItsOwn) {
  Segment segment(run_dir_, living());
  fill(segment);
  segment.header().maker.machine ^= 1;
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  const std::string answer = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  auto run = reader::Run::open({run_dir_.path(), run_dir_.path(), run_id, "", true, "", {answer}});
  ASSERT_TRUE(run) << run.error();
  ASSERT_EQ(run->processes().size(), 1U) << "the segment can be read";
  EXPECT_EQ(run->processes()[0].state, State::unknown) << "but nobody knows whether its process lives";
}

// There is room in the run directory alone, and the process is on another machine.
TEST_F(AnswersTest, OfASegmentThatAllSeeItsNodeTellsThatItsProcessLives) {
  Segment segment(run_dir_, living());
  fill(segment);
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  const std::string answer = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  segment.header().maker.machine ^= 1;
  auto run = reader::Run::open({run_dir_.path(), run_dir_.path(), run_id, "", true, "", {answer}});
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->processes().at(0).state, State::running);
}

TEST_F(AnswersTest, AfterTheFileOfQuestionsWasRemovedTheNextOneIsAnother) {
  Segment segment(segment_dir_, living());
  fill(segment);
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  const std::string first = file();
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  EXPECT_FALSE(respondent.is_forgotten());
  std::filesystem::remove(run_dir_.path() + "/" + questions_file);
  EXPECT_FALSE(respondent.answer());
  EXPECT_TRUE(respondent.is_forgotten());
  const std::string answer = file(other_question);
  ask(other_question + "\n");
  EXPECT_TRUE(respondent.answer()) << "it is as long as the one before";
  EXPECT_FALSE(respondent.is_forgotten());
  EXPECT_TRUE(run_dir_.read(answer).ends_with(end_of_answer));
}

TEST_F(AnswersTest, QuestionsThatAreNoneAreNotAnswered) {
  const RunPaths paths = here();
  ask(other_question + "\n");
  Respondent respondent(paths, "node1");
  const std::string old = file(other_question), answer = file();
  EXPECT_FALSE(respondent.answer()) << "it was asked before";
  ask("../../../etc/passwd\n" + question.substr(0, 15) + "\n" + question);
  EXPECT_FALSE(respondent.answer()) << "the line goes on";
  ask("\n");
  EXPECT_TRUE(respondent.answer());
  EXPECT_TRUE(run_dir_.read(answer).ends_with(end_of_answer));
  EXPECT_EQ(run_dir_.read(old), "");
  std::filesystem::remove(run_dir_.path(questions_file));
  EXPECT_FALSE(respondent.answer());
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer()) << "it is a new file";
}

TEST_F(AnswersTest, NobodyMakesAFileForAnAnswer) {
  const RunPaths paths = here();
  Respondent respondent(paths, "node1");
  ask(question + "\n");
  EXPECT_TRUE(respondent.answer());
  EXPECT_FALSE(run_dir_.has(".seen-" + question + "-node1"));
}

TEST_F(AnswersTest, AnAnswerThatIsCutOffIsRefused) {
  const std::string answer = file();
  run_dir_.write(answer, functions_chunk());
  const auto run = elsewhere({answer});
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().find("is no complete answer"), std::string::npos) << run.error();
}

}  // namespace
}  // namespace tare::reader
