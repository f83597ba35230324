// How the ranks of a world agree to exchange records of sampled messages. README.md has the protocol, and why
// no rank can block another. Each step that needs other ranks is a nonblocking operation. Whether it
// is complete is tested in MPI_Init for a while, and from then on now and then.
#pragma once

#include <sched.h>

#include <cstdlib>

#include "format/machine.h"
#include "format/sample.h"
#include "mpi/sampling/clocks.h"
#include "mpi/sampling/private_path.h"
#include "recorder/identity.h"
#include "recorder/room.h"

namespace tare::mpi::sampling {

template <class A>
class Agreement {
 public:
  // Called in MPI_Init by all ranks of the world, including those that do not record and take no part. Waits for the
  // others for a limited time.
  static void begin(int rank, int size, bool takes_part) noexcept {
    rank_ = rank;
    size_ = static_cast<std::uint32_t>(size);
    node_name_ = takes_part ? own_node() : 0;
    using Duplicate = int(Comm, Comm*, Request*);
    if (!has(Function::MPI_Comm_idup) || !has(Function::MPI_Iscatter)) return;
    step_ = Step::copying;
    note(format::begun);
    if (library<Duplicate>(Function::MPI_Comm_idup)(A::comm_world(), &comm_, &request_) != A::success) return give_up();
    deadline_ns_ = now_ns() + waiting_limit_ns();
    while (!go_on() && now_ns() < deadline_ns_) sched_yield();
    in_init_ = false;
    if (step_ != Step::over) sampler.set_joining(&go_on);
  }

  // Does the steps that the other ranks allow by now. True if there are no more steps. Any thread may call it.
  static bool go_on() noexcept {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    const std::uint64_t start = recorder::now();
    while (step_ != Step::over && is_complete()) next();
    const bool over = step_ == Step::over;
    if (!in_init_)
      if (auto* segment = recorder::segment()) segment->process.hook_init += recorder::now() - start;
    busy_.store(false, std::memory_order_release);
    return over;
  }

  // Called in MPI_Finalize, which all other ranks enter sooner or later.
  static void end() noexcept {
    if (step_ == Step::none) return;
    // Some MPI libraries report an error if operations are under way when MPI ends.
    const std::uint64_t deadline_ns = now_ns() + waiting_limit_ns();
    while (!go_on() && now_ns() < deadline_ns) sched_yield();
    bool all_are_here = step_ == Step::over && sampler.listening() && PrivatePathOf<A>::drain();
    if (all_are_here) compare_clocks_again();
    close_node();
    sampler.set_private_path({});
    if (all_are_here || (has_met_ && seat_.nodes == 1)) library<int(Comm*)>(Function::MPI_Comm_free)(&comm_);
  }

 private:
  using Comm = typename A::Comm;
  using Request = typename A::Request;
  using Datatype = typename A::Datatype;
  // The step that request_ belongs to.
  enum class Step : std::uint8_t { none, copying, telling, seating, synchronising, voting, deciding, over };

  static std::uint64_t now_ns() noexcept { return recorder::read_ns(CLOCK_MONOTONIC_RAW); }
  static void note(format::SampleJoining what) noexcept {
    if (auto* summary = recorder::sample_summary()) summary->joining |= what;
  }
  // For tests: TARE_SAMPLE_NODES makes the ranks believe that they are on so many nodes.
  static std::uint64_t own_node() noexcept {
    const char* directory = secure_getenv("TARE_SEGMENT_DIR");
    const std::uint64_t name = format::shared_memory_name(directory == nullptr ? recorder::shared_memory : directory);
    const std::uint64_t pretended = recorder::count_of("TARE_SAMPLE_NODES", 0);
    return pretended > 0 && name != 0 ? mix(name + 1 + static_cast<std::uint64_t>(rank_) % pretended) : name;
  }

  // Does not wait. A request that failed counts as complete, and no step follows it.
  static bool is_complete() noexcept {
    if (request_ == A::request_null()) return true;
    int done = 0;
    typename A::Status status;
    if (library<int(Request*, int*, typename A::Status*)>(Function::MPI_Test)(&request_, &done, &status) != A::success)
      give_up();
    return done != 0;
  }
  static void give_up() noexcept { step_ = Step::over; }
  static void start(Step step, int result) noexcept {
    step_ = step;
    if (result != A::success) give_up();
  }

  // The step that was started last is complete. Starts the next one.
  static void next() noexcept {
    switch (step_) {
      case Step::copying:
        ignore_errors();
        return report_to_node();
      case Step::telling:
        return seat();
      case Step::seating:
        reset_world();
        return join();
      case Step::synchronising:
        return synchronise();
      case Step::voting:
        return decide();
      case Step::deciding:
        if (verdict_ != 0) open_path();
        return give_up();
      default:
        return give_up();
    }
  }

  static void ignore_error(Comm*, int*, ...) {}
  // Errors on tare's communicator must not reach the program's error handler.
  static void ignore_errors() noexcept {
    using Handler = void(Comm*, int*, ...);
    using Errhandler = typename A::Errhandler;
    Errhandler handler;
    if (library<int(Handler*, Errhandler*)>(Function::MPI_Comm_create_errhandler)(ignore_error, &handler) != A::success)
      return;
    library<int(Comm, Errhandler)>(Function::MPI_Comm_set_errhandler)(comm_, handler);
    library<int(Errhandler*)>(Function::MPI_Errhandler_free)(&handler);
  }

  // Each rank sends the name of its node to rank 0.
  static void report_to_node() noexcept {
    if (rank_ == 0) {
      world_bytes_ = size_ * (sizeof(std::uint64_t) + sizeof(Seat) + 1);
      world_ = static_cast<char*>(recorder::map_memory(world_bytes_));
      if (world_ == nullptr) return give_up();
    }
    start(Step::telling, gather(&node_name_, sizeof node_name_, world_));
  }
  // Rank 0 sends each rank its seat.
  static void seat() noexcept {
    if (rank_ == 0)
      assign_seats(reinterpret_cast<const std::uint64_t*>(world_), size_, recorder::new_process_name(),
                   reinterpret_cast<Seat*>(world_ + size_ * sizeof(std::uint64_t)));
    using Scatter = int(const void*, int, Datatype, void*, int, Datatype, int, Comm, Request*);
    const void* seats = world_ + (rank_ == 0 ? size_ * sizeof(std::uint64_t) : 0);
    start(Step::seating,
          library<Scatter>(Function::MPI_Iscatter)(seats, sizeof(Seat), A::datatype_byte(), &seat_, sizeof(Seat),
                                                   A::datatype_byte(), 0, comm_, &request_));
  }
  static void reset_world() noexcept {
    if (world_ != nullptr) recorder::unmap_memory(world_, world_bytes_);
    world_ = nullptr;
  }

  // The ranks of a node join its shared memory. When a rank learns that all ranks of the world have joined, it may put
  // records into mailboxes.
  static void join() noexcept {
    if (seat_.all_take_part == 0) note(format::some_take_no_part);
    if (seat_.size != 0) {
      node_ = join_node(seat_.node_file, seat_.size, seat_.place, rank_);
      if (node_ == nullptr) note(format::no_memory);
    }
    start(Step::synchronising, library<int(Comm, Request*)>(Function::MPI_Ibarrier)(comm_, &request_));
  }
  static void synchronise() noexcept {
    has_met_ = true;
    if (node_ != nullptr) {
      sampler.set_node(node_);
      note(format::met);
      if (!in_init_) note(format::met_late);
    }
    if (seat_.nodes <= 1) return give_up();
    note(format::several_nodes);
    vote();
  }

  // Records travel between nodes if all ranks vote that they can read them. Rank 0 has all votes before any rank learns
  // the result.
  static void vote() noexcept {
    vote_ = node_ != nullptr && seat_.all_take_part != 0 && (seat_.place != 0 || knows_clock()) ? 1 : 0;
    if (rank_ == 0) {
      world_bytes_ = size_;
      world_ = static_cast<char*>(recorder::map_memory(world_bytes_));
      if (world_ == nullptr) return give_up();
    }
    start(Step::voting, gather(&vote_, sizeof vote_, world_));
  }
  // The first rank of a node compares its clock with those of the others. Only in MPI_Init, because all must do it at
  // the same time.
  static bool knows_clock() noexcept {
    ClockOffset offset;
    const bool compared = in_init_ && ClockComparison<A>::among(comm_, seat_, deadline_ns_, offset);
    if (!compared) note(format::clocks_unknown);
    node_->set_clock(offset);
    return compared;
  }
  static void decide() noexcept {
    if (rank_ == 0) {
      verdict_ = 1;
      for (std::uint32_t rank = 0; rank < size_; ++rank) verdict_ &= static_cast<std::uint8_t>(world_[rank]);
      reset_world();
    }
    using Broadcast = int(void*, int, Datatype, int, Comm, Request*);
    start(Step::deciding, library<Broadcast>(Function::MPI_Ibcast)(&verdict_, sizeof verdict_, A::datatype_byte(), 0,
                                                                   comm_, &request_));
  }
  static void open_path() noexcept {
    const ClockOffset clock = node_->clock();
    sampler.set_clock_offset(clock.ahead_ns, clock.uncertainty_ns, seat_.first);
    PrivatePathOf<A>::use(comm_, seat_.world);
    note(format::path_agreed);
  }

  static void compare_clocks_again() noexcept {
    if (seat_.place != 0) return;
    ClockOffset offset;
    if (ClockComparison<A>::among(comm_, seat_, now_ns() + waiting_limit_ns(), offset))
      sampler.set_clock_at_end(offset.ahead_ns, offset.uncertainty_ns);
  }

  static int gather(const void* own, int bytes, void* all) noexcept {
    using Gather = int(const void*, int, Datatype, void*, int, Datatype, int, Comm, Request*);
    return library<Gather>(Function::MPI_Igather)(own, bytes, A::datatype_byte(), all, bytes, A::datatype_byte(), 0,
                                                  comm_, &request_);
  }

  // Everything is kept as long as MPI may use it. If a rank never comes, that is until the end.
  static inline std::atomic<bool> busy_{false};
  static inline Step step_ = Step::none;
  static inline bool in_init_ = true;
  static inline bool has_met_ = false;
  static inline std::int32_t rank_ = 0;
  static inline std::uint32_t size_ = 0;
  static inline std::uint64_t deadline_ns_ = 0;
  static inline Comm comm_ = A::comm_null();
  static inline Request request_ = A::request_null();
  static inline std::uint64_t node_name_ = 0;
  static inline char* world_ = nullptr;  // in rank 0: the gathered values, and the seats
  static inline std::size_t world_bytes_ = 0;
  static inline Seat seat_{};
  static inline Node* node_ = nullptr;
  static inline std::uint8_t vote_ = 0;
  static inline std::uint8_t verdict_ = 0;
};

}  // namespace tare::mpi::sampling
