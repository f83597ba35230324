// The begin and the end of message sampling in a process.
#pragma once

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "mpi/calls/sampled_site.h"
#include "mpi/roles/sampling.h"
#include "mpi/sampling/agreement.h"
#include "recorder/segment.h"
#include "recorder/system.h"
#include "recorder/warning.h"

namespace tare::mpi {

// A chooser or an analysis cannot be used. The first process of the run that finds this says so.
[[gnu::cold]] inline void refuse_object(const char* wrong) noexcept {
  char text[PATH_MAX];
  std::snprintf(text, sizeof text, "%s/.sample-refused", secure_getenv("TARE_RUN_DIR"));
  if (!recorder::create_file(text)) return;
  std::snprintf(text, sizeof text, "--sample: %s; messages are not sampled", wrong);
  recorder::warn(text);
}

// To be called at the first call of MPI: messages are numbered from here on. The pairs are readings of the clocks some
// time apart.
inline void begin_sampling(const format::ClockPair& before, const format::ClockPair& after) noexcept {
  format::SampleSummary* summary = recorder::sample_summary();
  sampling::Spec spec;
  const char* text = secure_getenv("TARE_SAMPLE");
  if (summary == nullptr || format::parse_sample_spec(text, spec) != nullptr) return;
  if (const char* wrong = sampler.load(spec)) {
    summary->joining |= format::object_refused;
    std::snprintf(summary->spec, sizeof summary->spec, "%s", text);
    return refuse_object(wrong);
  }
  sampler.set_sites(is_at_site, key_of_site);
  sampler.begin(spec, text, summary, reinterpret_cast<format::SampleClass*>(summary + 1));
  sampler.set_clock_rate(static_cast<double>(after.ticks - before.ticks) /
                         static_cast<double>(after.monotonic_ns - before.monotonic_ns));
}

// MPI_Init. Comes after the role that finds rank and size.
template <class A>
struct StartsSampling : Role {
  void after(Thread&, recorder::Call&, int result) noexcept {
    auto* segment = recorder::segment();
    if (segment == nullptr || result != A::success) return;
    const recorder::ErrnoGuard guard;
    format::ProcessRecord& process = segment->process;
    const std::uint64_t start = recorder::now();
    if (sampler.active()) {
      if (process.thread_level == 3) sampler.share();
      sampler.set_rank(process.rank, [](const void* peers, std::int32_t peer) noexcept {
        return world_rank(static_cast<const Group*>(peers), peer);
      });
    }
    sampling::Agreement<A>::begin(process.rank, process.size, sampler.active());
    process.init_leave = recorder::now();
    process.hook_init += process.init_leave - start;
  }
  // Ranks that do not record still take part, because the operations are collective.
  static void unmeasured(int result) noexcept {
    if (result != A::success) return;
    const recorder::ErrnoGuard guard;
    int rank = 0;
    int size = 0;
    library<int(typename A::Comm, int*)>(Function::MPI_Comm_rank)(A::comm_world(), &rank);
    library<int(typename A::Comm, int*)>(Function::MPI_Comm_size)(A::comm_world(), &size);
    sampling::Agreement<A>::begin(rank, size, false);
  }
};

// MPI_Finalize.
template <class A>
struct EndsSampling : Role {
  void before(Thread&, recorder::Call&) noexcept {
    const recorder::ErrnoGuard guard;
    auto* segment = recorder::segment();
    const std::uint64_t before = segment == nullptr ? 0 : ticks_of_users(segment->process);
    const std::uint64_t start = recorder::now();
    sampling::Agreement<A>::end();
    sampler.finish();
    if (segment != nullptr)
      segment->process.hook_finalize += recorder::now() - start - (ticks_of_users(segment->process) - before);
  }
  static void unmeasured(int) noexcept {}

 private:
  // The account has them apart.
  static std::uint64_t ticks_of_users(const format::ProcessRecord& process) noexcept {
    return process.chooser_ticks + process.analysis_ticks;
  }
};

}  // namespace tare::mpi
