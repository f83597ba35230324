// Predicts which signature follows which. Programs repeat themselves: what came after a signature the last time mostly
// comes again. So a record is compared with one expected signature, and only unexpected signatures are written.
//
// The expectation after an unexpected record is what followed the latest earlier record with the same signature; if
// there was none, the first record. After an expected record, it is what followed the record that this one repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare::format {

// The memory of a SequenceWriter for at most `most` records. Zero-initialised.
template <std::size_t most>
struct SequenceTables {
  std::uint16_t numbers[most];  // signatures of the records so far
  std::uint16_t behind[most];   // by signature: the index of the record after its latest one
  std::uint16_t missed[most];   // signatures of unexpected records
  std::uint16_t runs[most];     // how many expected records came before each of them
};

template <std::size_t most>
class SequenceWriter {
 public:
  // The tables were used before, with `signatures` signatures.
  SequenceWriter(SequenceTables<most>& tables, std::size_t signatures) noexcept : tables_(&tables) {
    for (std::size_t i = 0; i < signatures; ++i) tables.behind[i] = 0;
    tables.numbers[0] = 0;
  }
  // The signature that is expected next; for the first record, 0.
  std::uint32_t expected() const noexcept { return tables_->numbers[expected_]; }
  void add_expected(std::uint32_t expected) noexcept {
    ++expected_;
    add(expected);
  }
  void add_unexpected(std::uint32_t number) noexcept {
    expected_ = tables_->behind[number];
    tables_->missed[misses_] = static_cast<std::uint16_t>(number);
    tables_->runs[misses_++] = static_cast<std::uint16_t>(count_ - since_);
    add(number);
    since_ = count_;
  }
  // Records so far.
  std::uint32_t count() const noexcept { return count_; }
  // Unexpected records.
  std::uint32_t misses() const noexcept { return misses_; }

 private:
  void add(std::uint32_t number) noexcept {
    tables_->numbers[count_++] = static_cast<std::uint16_t>(number);
    tables_->behind[number] = static_cast<std::uint16_t>(count_);
  }

  SequenceTables<most>* tables_;
  std::uint32_t count_ = 0;
  std::uint32_t misses_ = 0;
  std::uint32_t expected_ = 0;  // the record that the next one is expected to repeat
  std::uint32_t since_ = 0;     // the record after the latest unexpected one
};

// Computes the signatures of `records` records from the runs and the unexpected signatures. False if these are
// impossible. All signatures are below `signatures`.
inline bool decode_sequence(const std::vector<std::int64_t>& runs, const std::vector<std::int64_t>& missed,
                            std::size_t records, std::size_t signatures, std::vector<std::uint16_t>& numbers) {
  thread_local std::vector<std::uint16_t> behind;
  behind.assign(signatures, 0);
  numbers.resize(records);
  std::size_t count = 0;
  std::size_t expected = 0;
  const auto repeat = [&](std::uint64_t run) {
    if (run > records - count || (count == 0 && run != 0)) return false;
    for (const std::size_t end = count + run; count < end;) {
      const std::uint16_t number = numbers[count] = numbers[expected++];
      behind[number] = static_cast<std::uint16_t>(++count);
    }
    return true;
  };
  for (std::size_t i = 0; i < missed.size(); ++i) {
    const auto number = static_cast<std::uint64_t>(missed[i]);
    if (!repeat(static_cast<std::uint64_t>(runs[i])) || count == records || number >= signatures) return false;
    expected = behind[number];
    numbers[count++] = static_cast<std::uint16_t>(number);
    behind[number] = static_cast<std::uint16_t>(count);
  }
  return repeat(records - count);
}

}  // namespace tare::format
