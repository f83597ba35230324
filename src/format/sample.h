// What message sampling leaves behind for a process (src/mpi/sampling/): counters and a table of classes of messages.
// The same bytes lie in the segment and, as the payload of a samples chunk, on disk: SampleSummary, then its classes.
#pragma once

#include <bit>
#include <cstdint>

namespace tare::format {

// Bin i of a histogram counts latencies of bit width i + 5 in nanoseconds (bin 0 also those below, the last also those
// above).
inline constexpr unsigned latency_bins = 36;
inline constexpr unsigned first_latency_width = 5;

enum SampleClassFlags : std::uint32_t {
  between_nodes = 1,   // sender and receiver had clocks of their own, which were compared
  histogram_kept = 2,  // of some of the messages at least
  weight_unknown = 4,  // some were chosen with a probability that is not known: by a counter or a timer
  // These bits are those of the exponent of the double w = 1 / probability. So what a class adds up is of messages that
  // were chosen with similar probabilities. 0: not known; also in older files.
  weight_exponent = 0x7ffU << 8
};
// The bits of weight_exponent for a weight.
constexpr std::uint32_t exponent_of(double weight) noexcept {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(weight) >> (52 - 8)) & weight_exponent;
}

// Sampled messages of one class that this process received. Times are in nanoseconds.
//
//        S = start of the send        P = receive posted      W = start of the call that completed it      E = its end
//        latency = E - S = unposted (P - S, if positive) + unwaited (W - max(S, P), if positive) + transfer (the rest)
//        late_sender = S - W, if positive: how long the receiver waited before the message was sent
struct SampleClass {
  std::int32_t source;         // rank in the world
  std::uint32_t send_site;     // number in the process of the source
  std::uint32_t receive_site;  // number in this process
  std::uint32_t flags;
  std::uint64_t bytes;  // of a message
  std::uint64_t count;
  std::uint64_t unexpected;  // sent before their receive was posted
  double weight;             // messages that these stand for: the sum of w = 1 / probability, where that is known
  double weight_squared;     // the sum of w * w
  std::uint64_t latency;
  std::uint64_t latency_min;
  std::uint64_t latency_max;
  double latency_squared;
  std::uint64_t late_sender;
  std::uint64_t unposted;
  std::uint64_t unwaited;
  std::uint64_t transfer;
  std::uint64_t uncertainty_ns;  // largest, of the clocks
  std::uint32_t histogram[latency_bins];
};
static_assert(sizeof(SampleClass) == 272);

// How far the ranks of the world have come to tell one another of messages.
enum SampleJoining : std::uint32_t {
  begun = 1,                // in MPI_Init; 0: not known (a trace of an older version), or it has not come so far
  met = 2,                  // all have come, and those of this node tell one another
  met_late = 4,             // only after MPI_Init had returned
  several_nodes = 8,        // the world is on several
  path_agreed = 16,         // and they tell one another too
  no_memory = 32,           // on this node for what its ranks share
  clocks_unknown = 64,      // of this node: it could not be compared while MPI_Init was waited in
  some_take_no_part = 128,  // ranks that are not measured
  object_refused = 256      // a chooser or an analysis of the spec could not be used, so this process did not sample
};

// Counters of a process, in messages.
struct SampleSummary {
  std::uint32_t classes;  // in use; number 0 takes the messages that found no room, if it has any
  std::uint32_t capacity;
  std::uint64_t seed;
  std::uint64_t sent;                // numbered by this process as their sender
  std::uint64_t received;            // and as their receiver
  std::uint64_t chosen;              // of those sent
  std::uint64_t ambiguous;           // chosen, but two threads used one channel at the same time
  std::uint64_t unreachable;         // chosen, but there is no private path to the receiver
  std::uint64_t lost;                // chosen, but the record found no room on its way
  std::uint64_t paired;              // received, with the sender's record
  std::uint64_t ambiguous_received;  // received with a record, but two receives were posted at the same time
  std::uint64_t contradictory;       // the record tells of another size: no pair, and a reason to retract_all
  std::uint64_t unpaired;            // records whose message was not received
  std::uint64_t unnumbered;          // received, but their number cannot be known
  std::uint64_t recordless;          // received, chosen by the coordinated rule, but the record never came
  // This node's clock against the first node's, as compared at the start and at the end.
  std::uint64_t clock_uncertainty_ns;      // at the start
  std::uint64_t clock_end_uncertainty_ns;  // at the end; this and what follows of the process `clock_rank` alone
  std::int64_t clock_drift_ns;             // by how much the first node's clock went ahead of this one's in between
  std::uint64_t clock_span_ns;             // the time in between; 0: not compared at the end
  std::int32_t clock_rank;                 // rank in the world of the process that compared them for this node
  std::uint32_t joining;                   // SampleJoining
  char spec[256];                          // the one in force last, cut if longer
};
static_assert(sizeof(SampleSummary) == 408);

}  // namespace tare::format
