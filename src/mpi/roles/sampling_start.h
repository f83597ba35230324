// Begin and end of message sampling in a process.
#pragma once

#include <cstdlib>

#include "mpi/roles/sampling.h"
#include "mpi/sampled_site.h"
#include "mpi/sampling/clocks.h"
#include "mpi/sampling/node.h"
#include "mpi/sampling/private_path.h"
#include "recorder/process.h"

namespace tare::mpi {

// At the first call of MPI: from here on messages are numbered. The pairs are readings of the clock some time apart.
inline void begin_sampling(const format::ClockPair& before, const format::ClockPair& after) noexcept {
  format::SampleSummary* summary = recorder::sample_summary();
  sampling::Spec spec;
  const char* text = getenv("TARE_SAMPLE");
  if (summary == nullptr || format::parse_sample_spec(text, spec) != nullptr) return;
  sampler.set_sites(is_at_site);
  sampler.begin(spec, text, summary, reinterpret_cast<format::SampleClass*>(summary + 1));
  sampler.set_clock_rate(static_cast<double>(after.ticks - before.ticks) /
                         static_cast<double>(after.monotonic_ns - before.monotonic_ns));
}

// Joins the ranks of a world for the exchange of records: mailboxes on each node, a private communicator between them.
// Collective over MPI_COMM_WORLD, inside MPI_Init.
template <class A>
class SamplingWorld {
 public:
  using Comm = typename A::Comm;

  static void join(int rank, int size) noexcept {
    sampler.set_rank(rank, [](const void* peers, std::int32_t peer) noexcept {
      return world_rank(static_cast<const Group*>(peers), peer);
    });
    Comm all = copy_of_world();
    if (all == A::comm_null()) {
      recorder::complain("other ranks do not sample messages: neither does this one");
      sampler.stop();
      return;
    }
    ignore_errors(all);
    Comm node = node_of(all, rank);
    int place = 0;
    int ranks = 0;
    library<int(Comm, int*)>(Function::MPI_Comm_rank)(node, &place);
    library<int(Comm, int*)>(Function::MPI_Comm_size)(node, &ranks);
    share_memory(node, place, ranks, rank);
    if (ranks != size) {
      std::uint64_t world = recorder::segment()->process.process;
      from_first(world, all);
      sampling::PrivatePathOf<A>::use(all, world);
      compare_clocks(all, node, place, rank);
    } else {
      free(all);
    }
    free(node);
  }

  // Compares the clocks again, in MPI_Finalize, where it is known that all ranks have come to it.
  static void compare_clocks_again() noexcept {
    if (nodes_ == 0) return;
    sampling::ClockOffset offset;
    const std::uint64_t deadline = recorder::read_ns(CLOCK_MONOTONIC_RAW) + last_comparison_ns;
    if (!Comparison::among(leaders_, number_, nodes_, deadline, offset)) return;
    sampler.set_clock_at_end(offset.ahead_ns, offset.uncertainty_ns);
    free(leaders_);
  }

 private:
  static constexpr std::uint64_t give_up_ns = 30'000'000'000U;
  static constexpr std::uint64_t last_comparison_ns = 2'000'000'000U;

  static void free(Comm& comm) noexcept { library<int(Comm*)>(Function::MPI_Comm_free)(&comm); }

  static void ignore_error(Comm*, int*, ...) {}
  // An error of ours is not the program's.
  static void ignore_errors(Comm comm) noexcept {
    using Handler = void(Comm*, int*, ...);
    using Errhandler = typename A::Errhandler;
    Errhandler handler;
    if (library<int(Handler*, Errhandler*)>(Function::MPI_Comm_create_errhandler)(ignore_error, &handler) != A::success)
      return;
    library<int(Comm, Errhandler)>(Function::MPI_Comm_set_errhandler)(comm, handler);
    library<int(Errhandler*)>(Function::MPI_Errhandler_free)(&handler);
  }

  // Without blocking, so that ranks that are not measured stop nobody.
  static Comm copy_of_world() noexcept {
    Comm copy = A::comm_null();
    typename A::Request request = A::request_null();
    if (library<int(Comm, Comm*, typename A::Request*)>(Function::MPI_Comm_idup)(A::comm_world(), &copy, &request) !=
        A::success)
      return A::comm_null();
    const std::uint64_t deadline = recorder::read_ns(CLOCK_MONOTONIC_RAW) + give_up_ns;
    for (int done = 0; done == 0;) {
      typename A::Status status;
      library<int(typename A::Request*, int*, typename A::Status*)>(Function::MPI_Test)(&request, &done, &status);
      if (recorder::read_ns(CLOCK_MONOTONIC_RAW) > deadline) return A::comm_null();
    }
    return copy;
  }

  // TARE_SAMPLE_NODES makes ranks believe to be on so many nodes: for tests.
  static Comm node_of(Comm all, int rank) noexcept {
    Comm node = A::comm_null();
    const char* nodes = getenv("TARE_SAMPLE_NODES");
    const int pretended = nodes == nullptr ? 0 : std::atoi(nodes);
    if (pretended > 0)
      library<int(Comm, int, int, Comm*)>(Function::MPI_Comm_split)(all, rank % pretended, rank, &node);
    else
      library<int(Comm, int, int, typename A::Info, Comm*)>(Function::MPI_Comm_split_type)(all, A::comm_type_shared,
                                                                                           rank, A::info_null(), &node);
    return node;
  }

  template <class T>
  static void from_first(T& value, Comm comm) noexcept {
    library<int(void*, int, typename A::Datatype, int, Comm)>(Function::MPI_Bcast)(&value, sizeof value,
                                                                                   A::datatype_byte(), 0, comm);
  }
  static void barrier(Comm comm) noexcept { library<int(Comm)>(Function::MPI_Barrier)(comm); }

  static void share_memory(Comm node, int place, int ranks, int rank) noexcept {
    struct {
      std::uint64_t name;
      std::uint32_t made;
    } file{recorder::segment()->process.process, 0};
    const auto size = static_cast<std::uint32_t>(ranks);
    if (place == 0) file.made = sampling::make_node_file(file.name, size) ? 1 : 0;
    from_first(file, node);
    const auto own = static_cast<std::uint32_t>(place);
    if (file.made != 0) sampling::open_node_file(file.name, size, own, rank);
    barrier(node);
    if (file.made != 0) sampling::use_node_file(file.name, own);
  }

  static void compare_clocks(Comm all, Comm node, int place, int rank) noexcept {
    library<int(Comm, int, int, Comm*)>(Function::MPI_Comm_split)(all, place == 0 ? 0 : A::undefined, rank, &leaders_);
    struct {
      sampling::ClockOffset offset;
      std::int32_t rank;
    } found{{}, rank};
    if (place == 0) {
      library<int(Comm, int*)>(Function::MPI_Comm_rank)(leaders_, &number_);
      library<int(Comm, int*)>(Function::MPI_Comm_size)(leaders_, &nodes_);
      Comparison::among(leaders_, number_, nodes_, UINT64_MAX, found.offset);
    }
    from_first(found, node);
    sampler.set_clock_offset(found.offset.ahead_ns, found.offset.uncertainty_ns, found.rank);
  }

  using Comparison = sampling::ClockComparison<A>;
  static inline Comm leaders_{};  // of the first ranks of the nodes, on these
  static inline int number_ = 0;  // in it
  static inline int nodes_ = 0;   // 0: this is none
};

// MPI_Init, behind the role that finds out rank and size.
template <class A>
struct StartsSampling : Role {
  void after(Thread&, recorder::Call&, int result) noexcept {
    const auto* segment = recorder::segment();
    if (segment == nullptr || result != A::success || !sampler.active()) return;
    const recorder::ErrnoGuard guard;
    const std::uint64_t start = recorder::now();
    if (segment->process.thread_level == 3) sampler.share();
    SamplingWorld<A>::join(segment->process.rank, segment->process.size);
    recorder::segment()->process.hook_init += recorder::now() - start;
  }
};

// MPI_Finalize.
template <class A>
struct EndsSampling : Role {
  void before(Thread&, recorder::Call&) noexcept {
    if (!sampler.active()) return;
    const recorder::ErrnoGuard guard;
    if (sampler.listening() && sampling::PrivatePathOf<A>::drain()) SamplingWorld<A>::compare_clocks_again();
    sampler.finish();
  }
};

}  // namespace tare::mpi
