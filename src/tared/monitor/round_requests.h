// Rounds that a user requests (`--monitor=pull`), at the root of the tree. This is the "pull" of Nataraj et al.
// (CLUSTER 2008, section II): ranks offload when they are asked, and not otherwise.
//
// `tare top`, `tare watch` and tare.request_round() append a byte to the file `requests` in the meeting place
// of the run. The root looks at its size. It then chooses one point of the clock at which all ranks offload. Requests
// that come while a round is under way are answered by one more round, after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tared/boi/point_clock.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

class RoundRequests {
 public:
  static constexpr const char* file_name = "/requests";
  static constexpr std::int64_t notice_ns = 20'000'000;  // time for a decision to reach ranks
  // A round that has not arrived after this time is tried again: no rank may have made an MPI call since.
  static constexpr std::int64_t patience_ns = 2'000'000'000;

  // `directory`: the meeting place.
  RoundRequests(const std::string& directory, PointClock points)
      : path_(directory + file_name), points_(std::move(points)) {}

  // A round that has arrived at the root.
  void add(const Round& round) { is_under_way_ &= round.round < round_; }
  // The point of the next round, if one was requested and none is under way (Unix time). To be called while there are
  // ranks: those that start later have no part in the round.
  std::optional<Pace> decide(std::int64_t now_ns);

 private:
  std::string path_;
  PointClock points_;
  std::uint64_t answered_ = 0;  // bytes of the file
  bool is_under_way_ = false;
  std::uint64_t round_ = 0;     // the last that was chosen
  std::int64_t chosen_ns_ = 0;  // its time
};

}  // namespace tare::tared
