// Parses the rounds of a monitored run (docs/format.md).
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

  std::uint64_t count() const;  // number of ranks
  // As text: "1,4-7".
  std::string text() const;
};

// Reads numbers from bytes. Once too few bytes are left, has_failed() is true, and all further numbers are 0.
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
  std::uint64_t round = 0;  // its number
  // Unix times: of the first and the last offload, and of the arrival of the last part at the node that stored the
  // round.
  std::int64_t first_ns = 0, last_ns = 0, arrived_ns = 0;
  RankRuns ranks, lost;  // ranks whose data is in the round, and ranks whose data is missing
  // For each filter: its name with arguments, and its result as bytes.
  std::vector<std::pair<std::string_view, std::string_view>> parts;
};

// Reads the payloads of the chunks of one file, which must be passed in their order.
class RoundReader {
 public:
  // Calls `visit` for each round of a payload. The round is valid during the call. Damaged and lost rounds are left
  // out.
  void read(std::string_view payload, const std::function<void(const StoredRound&)>& visit);
  // The event with that key, from the payloads read so far. If they do not name the key, the name is made of its
  // number.
  RoundEvent event(std::uint64_t key) const;

 private:
  std::unordered_map<std::uint64_t, RoundEvent> names_;
};

}  // namespace tare::reader
