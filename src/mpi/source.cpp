#include "mpi/source.h"

#include "mpi/calls/left_call.h"
#include "mpi/calls/thread.h"
#include "mpi/interposition/bypass.h"
#include "mpi/interposition/dispatch.h"
#include "mpi/objects/describe.h"
#include "mpi/objects/requests.h"
#include "mpi/objects/used_files.h"
#include "mpi/sampling/sampler.h"

namespace tare::mpi {
namespace {

std::uint32_t classes_asked() noexcept { return sampling_asked() ? sample_classes : 0; }
void thread_starts(recorder::Location& location) noexcept {
  auto& thread = static_cast<Thread&>(location);
  thread.polls.clear(thread.weighing.clock_ticks());
}
void pauses(recorder::Location& location) noexcept { static_cast<Thread&>(location).polls.end_streaks(); }
bool has_open_requests() noexcept { return requests.any_active(); }
const char* change_sampling(const char* spec) noexcept { return sampling::sampler.change(spec); }

void in_forked_child() noexcept {
  requests.after_fork();
  forget_sessions();
  forget_used_files();
  sampling::sampler.after_fork();
}

}  // namespace

constinit const recorder::Source source{
    .name = "MPI",
    .is_always_on = true,
    .started = thread_starts,
    .pauses = pauses,
    .left = record_left,
    .depth_changes = change_depth,
    .forked = in_forked_child,
    .sample_classes = classes_asked,
    .change_sampling = change_sampling,
    .has_open_requests = has_open_requests,
};

}  // namespace tare::mpi
