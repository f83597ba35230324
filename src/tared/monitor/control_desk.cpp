#include "tared/monitor/control_desk.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

#include "monitor/cadence.h"
#include "tared/filters/filter.h"
#include "tared/own_file.h"

namespace tare::tared {

namespace {

using format::ControlMessage;
using format::ControlType;

constexpr std::size_t max_token_bytes = 32;

std::string_view word(std::string_view& line) {
  const std::string_view first = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), first.size() + 1));
  return first;
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc{} && end == text.data() + text.size();
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::optional<ControlMessage> parse_send(std::string_view line, std::string& error) {
  ControlMessage message;
  const std::string_view rank = word(line);
  const std::string_view type = word(line);
  const std::string_view name = word(line);
  if (rank != "all" && (!read_number(rank, message.rank) || message.rank < 0)) {
    error = "there is no rank '" + std::string(rank) + "'";
    return {};
  }
  if (!is_word(name) || name.size() >= ControlMessage::name_bytes) {
    error = "'" + std::string(name) + "' is no name: it has at most 31 letters, digits, dots, - and _";
    return {};
  }
  std::ranges::copy(name, message.name.begin());
  if (type == "integer") {
    std::int64_t value = 0;
    message.type = ControlType::integer;
    if (read_number(line, value))
      message.value = static_cast<std::uint64_t>(value);
    else
      error = "'" + std::string(line) + "' is no integer of 64 bits";
  } else if (type == "real") {
    double value = 0;
    message.type = ControlType::real;
    if (read_number(line, value) && std::isfinite(value))
      message.value = std::bit_cast<std::uint64_t>(value);
    else
      error = "'" + std::string(line) + "' is no number";
  } else if (type == "text") {
    message.type = ControlType::text;
    if (line.size() <= ControlMessage::max_text_bytes && is_printable(line))
      std::ranges::copy(line, message.text.begin());
    else
      error = "the text is longer than 64 bytes, or is not printable";
  } else {
    error = "'" + std::string(type) + "' is no type: integer, real or text";
  }
  if (!error.empty()) return {};
  return message;
}

std::optional<SetRequest> parse_set(std::string_view line, std::string& error) {
  SetRequest request;
  while (!line.empty()) {
    const std::string_view part = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.size(), part.size() + 1));
    const std::string_view key = part.substr(0, part.find('='));
    const std::string_view value = part.substr(std::min(part.size(), key.size() + 1));
    if (key == "every") {
      if (!read_number(value, request.every) || request.every < 1 || request.every > monitor::Cadence::most)
        error = "every=" + std::string(value) + ": it is a number of points";
    } else if (key == "filter") {
      request.filter = value;
      make_filter(request.filter, error);
    } else if (key == "only" || key == "site") {
      if (!request.contents) request.contents.emplace();
      *request.contents += (request.contents->empty() ? "" : ",") + std::string(part);
    } else {
      error = "'" + std::string(key) + "' cannot change while a program runs";
    }
    if (!error.empty()) return {};
  }
  return request;
}

}  // namespace

std::optional<ControlRequest> parse_control(const std::string& line, std::string& token, std::string& error) {
  error.clear();
  std::string_view rest = line;
  token = word(rest);
  if (!is_word(token) || token.size() > max_token_bytes) {
    token.clear();
    error = "a request has no token";
    return {};
  }
  const std::string_view verb = word(rest);
  if (verb == "send") {
    if (const auto message = parse_send(rest, error)) return ControlRequest{token, *message};
  } else if (verb == "set") {
    if (auto request = parse_set(rest, error)) return ControlRequest{token, std::move(*request)};
  } else {
    error = "'" + std::string(verb) + "' is no request";
  }
  return {};
}

// False if there is no whole line more. A line that is too long becomes empty.
bool ControlDesk::read_line(std::string& line) {
  const std::string bytes = read_own_file(path_, format::max_request_bytes + 1, read_);
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() <= format::max_request_bytes) return false;  // it is being written
    read_ += bytes.size();
    line.clear();
    return true;
  }
  line = bytes.substr(0, end);
  read_ += end + 1;
  return true;
}

std::optional<ControlRequest> ControlDesk::next() {
  std::string line;
  while (read_line(line)) {
    std::string token;
    std::string error;
    if (auto request = parse_control(line, token, error)) return request;
    if (!token.empty()) refuse(token, error);
  }
  return {};
}

void ControlDesk::accept(const ControlRequest& request, std::uint64_t from_round) {
  answer(request.token + " ok " + std::to_string(from_round));
}

void ControlDesk::refuse(const std::string& token, const std::string& why) { answer(token + " error " + why); }

void ControlDesk::answer(const std::string& line) const {
  std::string text = line;
  std::ranges::replace(text, '\n', ' ');
  append_to_file(answers_path_, text + '\n');
}

std::optional<Pace> RoundRequests::decide(std::int64_t now_ns) {
  if (is_under_way_ && now_ns - chosen_ns_ < patience_ns) return {};
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0) return {};
  const auto requested = static_cast<std::uint64_t>(status.st_size);
  if (requested == answered_ && !is_under_way_) return {};
  answered_ = requested;
  is_under_way_ = true;
  round_ = points_.point_after(now_ns + notice_ns);
  chosen_ns_ = points_.time_of(round_);
  return Pace{round_, 0, monitor::Cadence::once};
}

}  // namespace tare::tared
