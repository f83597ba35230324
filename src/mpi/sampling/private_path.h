// The path of records between nodes: messages on a private communicator, a copy of MPI_COMM_WORLD. Nothing here waits
// for messages of the program, and nothing blocks.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "mpi/calls/thread.h"
#include "mpi/sampling/sampler.h"
#include "recorder/clock.h"
#include "recorder/environment.h"

namespace tare::mpi::sampling {

// How long tare waits for other ranks in MPI_Init and in MPI_Finalize.
inline std::uint64_t waiting_limit_ns() noexcept {
  return std::min<std::uint64_t>(recorder::count_of("TARE_SAMPLE_WAIT", 2000), 1'000'000'000) * 1'000'000U;
}

template <class A>
class PrivatePathOf {
 public:
  using Comm = typename A::Comm;
  using Request = typename A::Request;
  static constexpr int record_tag = 1;
  static constexpr int max_in_flight = 256;

  // `world`: a number that only this world of the run has; all of its ranks know it.
  static void use(Comm comm, std::uint64_t world) noexcept {
    comm_ = comm;
    world_ = world;
    for (Slot& slot : slots_) slot.request = A::request_null();
    sampler.set_private_path({&send, &listen});
  }

  // Sends a record, unless too many are under way or another thread is sending one.
  static bool send(const MessageRecord& record, std::int32_t destination) noexcept {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    const bool sent = start(record, destination, Function::MPI_Isend);
    if (sent) note_destination(destination);
    busy_.store(false, std::memory_order_release);
    return sent;
  }

  // Receives a record, if one has arrived.
  static bool listen(MessageRecord& record) noexcept {
    using Improbe = int(int, int, Comm, int*, typename A::Message*, typename A::Status*);
    using Mrecv = int(void*, int, typename A::Datatype, typename A::Message*, typename A::Status*);
    int found = 0;
    typename A::Message message = A::message_null();
    typename A::Status status;
    const int probed =
        library<Improbe>(Function::MPI_Improbe)(A::any_source, record_tag, comm_, &found, &message, &status);
    if (probed != A::success || found == 0) return false;
    return library<Mrecv>(Function::MPI_Mrecv)(&record, sizeof record, A::datatype_byte(), &message, &status) ==
           A::success;
  }

  // Called in MPI_Finalize, which all ranks of the world enter. Receives all records that are under way, by the
  // algorithm NBX (Hoefler et al., "Scalable communication protocols for dynamic sparse data exchange", 2010). A rank
  // sends a synchronous message, after its records, to each rank that it has sent records to. When these have been
  // received, it enters a nonblocking barrier. When the barrier is complete, all records of all ranks have arrived. A
  // rank gives up after a while, so that a rank that never comes does not block the others. It then creates a file,
  // which ranks that wait or come later see. True if all records have arrived.
  static bool drain() noexcept {
    Timeout timeout;
    sampler.listen();
    if (!has_been_given_up() && take_all(timeout)) {
      sampler.listen();
      return true;
    }
    give_up();
    return false;
  }

 private:
  // The time limit. Whether other ranks have given up is checked at growing intervals.
  struct Timeout {
    std::uint64_t start_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW);
    std::uint64_t look_after_ns = 50'000'000;
  };
  struct Slot {
    Request request;
    MessageRecord record;
  };

  static bool take_all(Timeout& timeout) noexcept {
    MessageRecord last{};
    last.kind = RecordKind::flush;
    for (std::uint32_t i = 0; i < reported_count_; ++i)
      while (!start(last, reported_[i], Function::MPI_Issend))
        if (!keep_going(timeout)) return false;
    while (!all_sent())
      if (!keep_going(timeout)) return false;
    Request barrier = A::request_null();
    if (library<int(Comm, Request*)>(Function::MPI_Ibarrier)(comm_, &barrier) != A::success) return false;
    while (!is_complete(barrier))
      if (!keep_going(timeout)) return false;
    return true;
  }
  static bool keep_going(Timeout& timeout) noexcept {
    sampler.listen();
    sched_yield();
    const std::uint64_t waited_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW) - timeout.start_ns;
    if (waited_ns >= waiting_limit_ns()) return false;
    if (waited_ns < timeout.look_after_ns) return true;
    timeout.look_after_ns *= 2;
    return !has_been_given_up();
  }
  // A file in the run directory, which the nodes share. `tare run` removes it.
  static bool path_of_note(char (&path)[PATH_MAX]) noexcept {
    const char* run_dir = secure_getenv("TARE_RUN_DIR");
    if (run_dir == nullptr) return false;
    std::snprintf(path, sizeof path, "%s/.finalizing-%016llx", run_dir, static_cast<unsigned long long>(world_));
    return true;
  }
  static bool has_been_given_up() noexcept {
    char path[PATH_MAX];
    return path_of_note(path) && access(path, F_OK) == 0;
  }
  static void give_up() noexcept {
    char path[PATH_MAX];
    if (path_of_note(path)) recorder::create_file(path);
  }
  static bool is_complete(Request& request) noexcept {
    if (request == A::request_null()) return true;
    int done = 0;
    typename A::Status status;
    library<int(Request*, int*, typename A::Status*)>(Function::MPI_Test)(&request, &done, &status);
    return done != 0;
  }
  static bool all_sent() noexcept {
    for (Slot& slot : slots_)
      if (!is_complete(slot.request)) return false;
    return true;
  }
  static bool start(const MessageRecord& record, std::int32_t destination, Function send) noexcept {
    Slot& slot = slots_[next_];
    if (!is_complete(slot.request)) return false;
    next_ = (next_ + 1) % max_in_flight;
    slot.record = record;
    using Send = int(const void*, int, typename A::Datatype, int, int, Comm, Request*);
    return library<Send>(send)(&slot.record, sizeof slot.record, A::datatype_byte(), destination, record_tag, comm_,
                               &slot.request) == A::success;
  }
  // The ranks that records were sent to, each once.
  static void note_destination(std::int32_t destination) noexcept {
    const auto same = [&](std::uint32_t place) { return reported_[place - 1] == destination; };
    if (reported_index_.find(mix(static_cast<std::uint32_t>(destination)), same) != 0) return;
    if (reported_count_ == reported_capacity_ && !grow()) return;
    reported_[reported_count_++] = destination;
    reported_index_.put(mix(static_cast<std::uint32_t>(destination)), reported_count_);
  }
  static bool grow() noexcept {
    const recorder::ErrnoGuard guard;
    const std::uint32_t larger = reported_capacity_ == 0 ? 1024 : 2 * reported_capacity_;
    auto* memory = static_cast<std::int32_t*>(recorder::map_memory(larger * sizeof(std::int32_t)));
    if (memory == nullptr) return false;
    for (std::uint32_t i = 0; i < reported_count_; ++i) memory[i] = reported_[i];
    if (reported_ != nullptr) recorder::unmap_memory(reported_, reported_capacity_ * sizeof(std::int32_t));
    reported_ = memory;
    reported_capacity_ = larger;
    return true;
  }

  static inline Comm comm_{};
  static inline std::uint64_t world_ = 0;
  static inline Slot slots_[max_in_flight] = {};
  static inline unsigned next_ = 0;
  static inline std::atomic<bool> busy_{false};
  static inline std::int32_t* reported_ = nullptr;
  static inline std::uint32_t reported_count_ = 0;
  static inline std::uint32_t reported_capacity_ = 0;
  static inline PlaceIndex reported_index_;
};

}  // namespace tare::mpi::sampling
