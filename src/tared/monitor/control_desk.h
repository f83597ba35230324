// Requests of the user of a running job (`tare monitor RUN`), at the root of the tree.
//
// They are lines of the file `controls` in the meeting place of the run, which only the owner of the run can enter:
//
//   TOKEN send RANK integer|real|text NAME VALUE
//   TOKEN set KEY=VALUE[,KEY=VALUE]...
//
// RANK is a number or `all`. Keys are `every`, `filter`, `only` and `site`, as in TARE_MONITOR. For each line, the root
// appends one to the file `answers`: TOKEN, then `ok` and the round from which on it holds, or `error` and why it does
// not. Lines come from other processes, so nothing in them is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "format/control.h"
#include "tared/boi/point_clock.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

struct SetRequest {
  std::uint64_t every = 0;              // 0: as before
  std::string filter;                   // empty: as before
  std::optional<std::string> contents;  // `only=` and `site=`; nothing: as before
};

struct ControlRequest {
  std::string token;
  std::variant<SetRequest, format::ControlMessage> wanted;
};

// Nothing if the line is no request, with the reason in `error`, and the token if there is one.
std::optional<ControlRequest> parse_control(const std::string& line, std::string& token, std::string& error);

class ControlDesk {
 public:
  static constexpr const char* file_name = "/controls";
  static constexpr const char* answers_name = "/answers";

  // `directory`: the meeting place.
  explicit ControlDesk(const std::string& directory)
      : path_(directory + file_name), answers_path_(directory + answers_name) {}

  // The next request that can be parsed; wrong ones are answered.
  std::optional<ControlRequest> next();
  void accept(const ControlRequest& request, std::uint64_t from_round);
  void refuse(const std::string& token, const std::string& why);

 private:
  bool read_line(std::string& line);
  void answer(const std::string& line) const;

  std::string path_;
  std::string answers_path_;
  std::uint64_t read_ = 0;  // bytes of the file
};

// Rounds that a user requests (`--monitor=pull`), at the root of the tree. This is the "pull" of Nataraj et al.
// (CLUSTER 2008, section II): ranks offload when they are asked, and not otherwise.
//
// `tare top`, `tare watch` and tare.request_round() append a byte to the file `requests` in the meeting place
// of the run. The root looks at its size. It then chooses one point of the clock at which all ranks offload. Requests
// that come while a round is under way are answered by one more round, after that.
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
