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
#include <variant>

#include "format/control.h"

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

}  // namespace tare::tared
