// What the functions of MPI mean: the table mpi/functions.toml, where the words are explained.
#pragma once

#include <cstdint>

namespace tare::format {

enum class CallClass : std::uint8_t {
  local,
  lookup,
  lifecycle,
  send,
  receive,
  exchange,
  probe,
  start,
  completion,
  request,
  collective,
  one_sided,
  epoch,
  file,
  other,
};

// Whether the call itself does it, or the request that it makes.
enum class CallForm : std::uint8_t { blocking, nonblocking, persistent };

enum class Waits : std::uint8_t {
  nobody,
  receiver,
  buffer,
  sender,
  arrival,
  partners,
  requests,
  all,
  usually_all,
  contributors,
  some,
  root,
  at_root,
  lower,
  neighbours,
  locks,
  storage,
  unknown,
};

// What a collective or one-sided function does to data, and the barrier.
enum class Operation : std::uint8_t {
  none,
  barrier,
  broadcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  allreduce,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  put,
  get,
  accumulate,
  fetch_and_accumulate,
  compare_and_swap,
};

// Accesses of one-sided functions that are complete when the function returns; locally: only at their origin.
enum class CompletesAccesses : std::uint8_t { none, target, all, target_locally, all_locally };

// What a function of one-sided synchronisation does: it posts or waits for the end of an exposure epoch, starts or
// completes an access epoch, locks or unlocks a window.
enum class EpochStep : std::uint8_t { none, posts, waits, starts, completes, locks, unlocks };

// What a call does with a file. A `read_end` or `write_end` completes what a `read_begin` or `write_begin` has begun.
enum class FileAccess : std::uint8_t {
  none,
  open,
  close,
  read,
  write,
  read_begin,
  write_begin,
  read_end,
  write_end,
  seek,
  sync,
};

struct FunctionMeaning {
  CallClass kind = CallClass::other;
  CallForm form = CallForm::blocking;
  Waits waits = Waits::unknown;
  Operation operation = Operation::none;
  CompletesAccesses completes_accesses = CompletesAccesses::none;
  EpochStep epoch = EpochStep::none;
  FileAccess access = FileAccess::none;
  bool is_stdio = false;        // it works on a stream of C
  bool is_rooted = false;       // it has a root, which stands for a peer in records
  bool is_poll = false;         // it does not wait, and may find nothing
  bool is_matched = false;      // of a probe: it takes its message off the queue; of a receive: of such a message
  bool begins_world = false;    // net time is from the end of such a call
  bool ends_world = false;      // to the start of such a call
  bool bounds_session = false;  // it begins or ends a session
  bool makes_communicator = false;
  bool frees_communicator = false;
  bool cancels = false;       // a request
  bool calls_others = false;  // libraries make it of other functions, which they call by their names

  // A probe that waits for its message, and takes it off the queue.
  constexpr bool is_matched_probe() const { return kind == CallClass::probe && is_matched && !is_poll; }
  constexpr bool receives_matched() const { return kind == CallClass::receive && is_matched; }
  constexpr bool bounds_net_time() const { return begins_world || ends_world || bounds_session; }
};

// The meaning of a function by its number. For numbers outside of 1 .. function_count, nothing is known.
const FunctionMeaning& meaning_of(unsigned number) noexcept;

}  // namespace tare::format
