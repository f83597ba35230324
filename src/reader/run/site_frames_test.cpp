#include "reader/run/site_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tare::reader {
namespace {

const std::string program = "/bin/app";
const std::string library = "/lib/libapp.so";
const std::string solver = "/lib/libsolver.so";

class SiteFrames : public ::testing::Test {
 protected:
  using Place = std::pair<std::string, unsigned>;  // caller, and line or, if there is none, address

  std::int32_t frame(const std::string& caller, unsigned line, const std::string& file = "/src/app.c") {
    frames_.push_back({{program, {}, line}, {caller, file, line}, true});
    return static_cast<std::int32_t>(frames_.size()) - 1;
  }
  std::int32_t in_library(const std::string& caller, unsigned offset, const std::string& object = library) {
    frames_.push_back({{object, {}, offset}, {caller, {}, 0}, false});
    return static_cast<std::int32_t>(frames_.size()) - 1;
  }
  void site(const std::string& function, std::vector<std::int32_t> path, std::size_t shown = 0,
            std::uint16_t flags = 0) {
    called_.push_back({function, static_cast<std::int32_t>(sites_.size())});
    sites_.push_back({.path = std::move(path), .flags = flags, .shown = shown, .at = {}, .symbol = {}});
  }
  std::vector<std::string> callers() {
    choose_frames(sites_, frames_, called_);
    std::vector<std::string> found;
    for (const SiteInfo& site : sites_) found.push_back(at(site).symbol.caller);
    return found;
  }
  std::vector<unsigned> lines() {
    choose_frames(sites_, frames_, called_);
    std::vector<unsigned> found;
    for (const SiteInfo& site : sites_) found.push_back(at(site).symbol.line);
    return found;
  }

  std::vector<FrameInfo> frames_;
  std::vector<SiteInfo> sites_;
  std::vector<CalledSite> called_;

 private:
  const FrameInfo& at(const SiteInfo& site) const { return frames_[static_cast<std::size_t>(site.path[site.shown])]; }
};

using Callers = std::vector<std::string>;
using Lines = std::vector<unsigned>;

// As in LAMMPS: main() calls the library in one line, and frames are left out before it.
TEST_F(SiteFrames, AnApplicationInALibraryOfItsOwn) {
  const std::int32_t main = frame("main", 10);
  unsigned offset = 0;
  for (const auto& [function, caller] : std::vector<std::pair<std::string, std::string>>{
           {"MPI_Send", "forward"}, {"MPI_Send", "reverse"}, {"MPI_Irecv_c", "exchange"}})
    site(function, {in_library(caller, offset += 10), in_library("run", 5), main}, 2, format::frames_left_out);
  // The functions of the application are shown, also if a solver below it, or a wrapper of the solver, makes the call.
  site("MPI_Allreduce", {in_library("solver_MPI_Allreduce", 3, solver), in_library("dot", 77), main}, 2);
  EXPECT_EQ(callers(), (Callers{"forward", "reverse", "exchange", "dot"}));
}

TEST_F(SiteFrames, WrappersInTheLibrarySayNothing) {
  const std::int32_t main = frame("main", 10);
  unsigned offset = 0;
  for (const char* caller : {"a", "b", "c"})
    site("MPI_Send", {in_library("app_MPI_Send", 7), in_library(caller, offset += 10), main}, 2);
  EXPECT_EQ(callers(), Callers(3, "main")) << "one row is too few";
  site("MPI_Barrier", {in_library("d", 50), main}, 1);
  site("MPI_Allreduce", {in_library("e", 51), main}, 1);
  EXPECT_EQ(callers(), (Callers{"a", "b", "c", "d", "e"}));
}

// The program calls a solver library in several places.
TEST_F(SiteFrames, LinesOfTheProgramThatDifferStay) {
  const std::int32_t main = frame("main", 5);
  unsigned at = 0;
  for (const char* function : {"MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"}) {
    ++at;
    site(function, {in_library("solve", 10 * at, solver), frame("step", 100 + at), main}, 1);
  }
  EXPECT_EQ(lines(), (Lines{101, 102, 103, 104}));
}

TEST_F(SiteFrames, AFileOfWrappers) {
  const std::int32_t main = frame("main", 5);
  unsigned at = 0;
  for (const char* function : {"MPI_Send", "MPI_Irecv", "MPI_Waitall"}) {
    ++at;
    for (const unsigned call : {1U, 2U})
      site(function,
           {frame(std::string("comm_") + function, 10 + at, "/src/comm.c"), frame("step", 100 * at + call), main});
  }
  EXPECT_EQ(lines(), (Lines{101, 102, 201, 202, 301, 302}));
}

// exchange() sends, receives and waits, so it is no wrapper, and its own lines are shown.
TEST_F(SiteFrames, AFileOfFunctionsThatDoSomethingIsNone) {
  unsigned line = 20;
  for (const char* function : {"MPI_Send", "MPI_Irecv", "MPI_Waitall"}) {
    const std::int32_t exchange = frame("exchange", line++, "/src/comm.c");
    for (const unsigned call : {100U, 200U}) site(function, {exchange, frame("step", call)});
  }
  EXPECT_EQ(callers(), Callers(6, "exchange"));
}

TEST_F(SiteFrames, FunctionsOfOneFileThatCallOneAnotherAreNoWrappers) {
  unsigned at = 0;
  for (const char* function : {"MPI_Send", "MPI_Irecv", "MPI_Waitall"}) {
    ++at;
    for (const unsigned call : {0U, 10U})
      site(function, {frame("f" + std::to_string(at), at), frame("main", 50 + at + call)});
  }
  EXPECT_EQ(lines(), (Lines{1, 1, 2, 2, 3, 3}));
}

TEST_F(SiteFrames, PathsOfOneFrameNeedNoLook) {
  site("MPI_Send", {frame("main", 10)});
  EXPECT_FALSE(have_callers(sites_));
  site("MPI_Send", {frame("step", 20), 0});
  EXPECT_TRUE(have_callers(sites_));
}

}  // namespace
}  // namespace tare::reader
