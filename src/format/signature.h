// Signatures: the part of a record that recurs. The ways in which a program calls MPI are few, so a chunk holds each
// signature once (event_codec.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/event_codec.h"
#include "format/record.h"

namespace tare::format {

// Source and tag of received data; empty if the call received only its `bytes`.
inline constexpr std::uint64_t no_source =
    static_cast<std::uint32_t>(no_peer) | std::uint64_t{static_cast<std::uint32_t>(no_tag)} << 32;

// Compared as six words.
struct Signature {
  std::uint64_t what;  // function, size and site: the record's first word; or `completion`, or `start`
  std::uint64_t bytes;
  std::uint64_t peer_tag;
  std::uint64_t communicator;  // and in a higher bit, whether there is a request
  std::uint64_t received;
  std::uint64_t source_tag;
  bool operator==(const Signature&) const = default;
};

inline std::uint64_t first_word(const void* record) noexcept {
  std::uint64_t word;
  std::memcpy(&word, record, sizeof word);
  return word;
}

template <class Record>
std::uint64_t communicator_word(const Record& record) noexcept {
  return record.communicator | std::uint64_t{record.request != no_request} << 32;
}

inline constexpr std::uint64_t exchange_words = sizeof(ExchangeRecord) / 8;

[[gnu::always_inline]] inline Signature signature_of(const CallRecord& call) noexcept {
  Signature s{first_word(&call), call.bytes, first_word(&call.peer), communicator_word(call), no_bytes, no_source};
  if (call.head.words == exchange_words) {
    const auto& exchange = reinterpret_cast<const ExchangeRecord&>(call);
    s.received = exchange.received;
    s.source_tag = first_word(&exchange.source);
  }
  return s;
}

inline Signature signature_of(const CompletionRecord& completed) noexcept {
  return {completion, completed.bytes, first_word(&completed.source), 0, no_bytes, no_source};
}

inline Signature signature_of(const StartRecord& started) noexcept {
  return {start, started.bytes, first_word(&started.peer), communicator_word(started), no_bytes, no_source};
}

// Whether a record has a signature. The words that identify its kind differ between records of different kinds and
// sizes.
[[gnu::always_inline]] inline bool has(const CallRecord& call, const Signature& s) noexcept {
  const std::uint64_t differ = (s.what ^ first_word(&call)) | (s.bytes ^ call.bytes) |
                               (s.peer_tag ^ first_word(&call.peer)) | (s.communicator ^ communicator_word(call));
  if (differ != 0) return false;
  if (call.head.words != exchange_words) [[likely]]
    return true;
  const auto& exchange = reinterpret_cast<const ExchangeRecord&>(call);
  return s.received == exchange.received && s.source_tag == first_word(&exchange.source);
}

[[gnu::always_inline]] inline bool has(const CompletionRecord& completed, const Signature& s) noexcept {
  return ((s.what ^ completion) | (s.bytes ^ completed.bytes) | (s.peer_tag ^ first_word(&completed.source))) == 0;
}

inline bool has(const StartRecord& started, const Signature& s) noexcept { return signature_of(started) == s; }

inline constexpr std::size_t signature_slots = 4 * chunk_records;

inline std::size_t slot_of(const Signature& s) noexcept {
  std::uint64_t h = (s.what ^ s.communicator << 16 ^ s.bytes << 40) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ h >> 32 ^ s.bytes ^ s.peer_tag ^ s.received << 8 ^ s.source_tag << 4) * 0xc2b2ae3d27d4eb4fULL;
  return (h >> 40) % signature_slots;
}

// The signatures of one chunk, by number. Clearing empties only the slots that were used, which are few.
struct SignatureTable {
  Signature entries[chunk_records];
  std::uint16_t used[chunk_records];     // slot of each entry
  std::uint16_t slots[signature_slots];  // signature number + 1
  std::uint32_t count;

  void clear() noexcept {
    for (std::uint32_t i = 0; i < count; ++i) slots[used[i]] = 0;
    count = 0;
    entries[0] = {};  // no record's: function numbers begin at 1
  }
  std::uint32_t number(const Signature& s) noexcept {
    std::size_t slot = slot_of(s);
    while (slots[slot] != 0 && !(entries[slots[slot] - 1] == s)) slot = (slot + 1) % signature_slots;
    if (slots[slot] == 0) {
      entries[count] = s;
      used[count] = static_cast<std::uint16_t>(slot);
      slots[slot] = static_cast<std::uint16_t>(++count);
    }
    return slots[slot] - 1U;
  }
  // Not inlined, because most records have the expected signature.
  template <class Record>
  [[gnu::noinline]] std::uint32_t number_of(const Record& record) noexcept {
    return number(signature_of(record));
  }
};

}  // namespace tare::format
