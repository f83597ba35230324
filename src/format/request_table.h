// The requests of a process that are under way. Part of the segment (segment.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace tare::format {

// A request under way, as its owner and readers of the segment see it.
struct RequestEntry {
  std::uint64_t handle;   // 0: the entry is free
  std::uint64_t started;  // ticks: enter of the call that started it
  std::uint64_t bytes;    // sent; of a persistent send, at every start
  std::uint32_t id;       // of this request, as handles are used again
  std::uint32_t communicator;
  std::int32_t peer;  // as posted
  std::int32_t tag;
  std::uint32_t site;  // of the call that started it
  // 1 + the block of the thread that waits for it in the MPI_Wait, Waitall, Waitany or Waitsome that is its current
  // call; 0: none.
  std::uint32_t waiter;
  std::uint32_t message;  // number of the sampled message that it is; 0: none
  std::uint32_t block;    // where the row of the call that started it lies
  std::uint16_t row;
  std::uint16_t function;
  // MPI gives requests that are complete at once one handle: how many of this row have it now. Those of other rows have
  // entries of their own.
  std::uint16_t starts;
  std::uint8_t kind;    // RequestKind
  std::uint8_t active;  // 0: persistent, and not started

  bool receives() const noexcept { return (kind & 1U) != 0; }
  bool persistent() const noexcept { return (kind & 2U) != 0; }
  bool exchanges() const noexcept { return (kind & 8U) != 0; }
  bool unrecorded() const noexcept { return (kind & 16U) != 0; }
  bool sends() const noexcept { return (kind & 4U) != 0; }
  // Whether it is active, and no more than a receive or an operation whose status says nothing. That is, its last two
  // bytes are 0 1 or 1 1.
  bool simple() const noexcept {
    std::uint16_t last;
    std::memcpy(&last, &kind, sizeof last);
    return (last & ~1U) == 1U << 8;
  }
};
enum RequestKind : std::uint8_t {
  plain_request = 0,
  receive_request = 1,
  persistent_request = 2,
  send_request = 4,         // beside persistent_request: what it starts are messages to `peer`
  exchange_request = 8,     // beside receive_request: sends as well (MPI_Isendrecv)
  unrecorded_request = 16,  // started while its thread did not record (MPI_Pcontrol): it has no row
  partitioned_request = 32  // beside persistent_request: its message is sent in parts
};
static_assert(sizeof(RequestEntry) == 64);

// The requests of a process. Where they lie is the owner's choice (mpi/objects/requests.h). Number 0 is none.
inline constexpr unsigned request_capacity = 14336;
inline constexpr unsigned request_slots = 32768;
struct RequestTable {
  std::uint32_t reserved;
  std::atomic<std::uint32_t> used;  // entries with higher numbers have never been in use
  std::uint32_t free;               // the first of a list, which its owner keeps
  std::uint32_t reserved2;
  std::uint64_t reserved3[6];
  RequestEntry entries[request_capacity];
  std::uint16_t index[request_slots];  // hash table of numbers of entries; 0 = empty
};

}  // namespace tare::format
