// The rounds of a monitored run, as docs/format.md has them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tare::reader {

// A set of ranks, as runs of a first rank and a count.
struct RankRuns {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;

  std::uint64_t count() const;
  // "1,4-7"
  std::string text() const;
};

// Takes numbers from bytes; once there are too few it has failed, and gives nothing but zeros.
class RoundBytes {
 public:
  explicit RoundBytes(std::string_view bytes) : left_(bytes) {}

  bool has_failed() const { return failed_; }
  void fail() { failed_ = true; }
  std::string_view take(std::uint64_t size);
  std::string_view rest() { return take(left_.size()); }
  template <typename T>
  T number() {
    T value{};
    if (const std::string_view bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  template <typename T>
  std::vector<T> numbers(std::uint64_t count) {
    if (count > left_.size() / sizeof(T)) fail();
    std::vector<T> values(failed_ ? 0 : count);
    const std::string_view bytes = take(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  RankRuns ranks();

 private:
  std::string_view left_;
  bool failed_ = false;
};

enum class RoundEventKind { function, region, phase, counter };

struct RoundEvent {
  std::string name;
  RoundEventKind kind = RoundEventKind::function;
};

struct StoredRound {
  std::uint64_t round = 0;
  std::int64_t first_ns = 0, last_ns = 0, arrived_ns = 0;  // Unix times: of the first and last offload, of its arrival
  RankRuns ranks, lost;
  // Each filter, with its arguments, and what it has made of the round.
  std::vector<std::pair<std::string_view, std::string_view>> parts;
};

// Reads the payloads of the chunks of one file, one after another.
class RoundReader {
 public:
  // Rounds that are damaged, or lost, are left out. They are valid during the call.
  void read(std::string_view payload, const std::function<void(const StoredRound&)>& visit);
  // Of the payloads up to now; of a key that they do not name, its number.
  RoundEvent event(std::uint64_t key) const;

 private:
  std::unordered_map<std::uint64_t, RoundEvent> names_;
};

}  // namespace tare::reader
