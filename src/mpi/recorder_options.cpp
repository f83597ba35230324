// How libtare.so uses the recorder.
#include "format/functions.h"
#include "monitor/monitor.h"
#include "mpi/calls/left_call.h"
#include "mpi/calls/thread.h"
#include "mpi/interposition/bypass.h"
#include "mpi/interposition/dispatch.h"
#include "mpi/objects/requests.h"
#include "mpi/sampling/sampler.h"
#include "recorder/options.h"
#include "stack/inside.h"
#include "stack/site.h"

namespace tare::mpi {
namespace {

// A quarter of the rows is enough for every function (Location::new_row).
constexpr std::uint32_t rows = 2816;
static_assert(rows / 4 > format::function_count && rows <= format::index_slots * 3 / 4);

std::uint32_t classes_asked() noexcept { return sampling_asked() ? sample_classes : 0; }
void thread_starts(recorder::Location& location) noexcept {
  auto& thread = static_cast<Thread&>(location);
  stack::begin_paths(thread);
  thread.polls.clear(thread.weighing.clock_ticks());
}
void pauses(recorder::Location& location) noexcept { static_cast<Thread&>(location).polls.end_streaks(); }
bool has_open_requests() noexcept { return requests.any_active(); }
void thread_ends(recorder::Location&) noexcept { stack::leave(); }
void process_exits(recorder::Location&) noexcept { stack::is_inside(TARE_CALLER); }
const char* change_sampling(const char* spec) noexcept { return sampling::sampler.change(spec); }

void in_forked_child() noexcept {
  stack::reset_sites();
  requests.after_fork();
  sampling::sampler.after_fork();
  tare_inside = 0;
}

}  // namespace
}  // namespace tare::mpi

constinit const tare::recorder::Options tare::recorder::library_options{
    .location_bytes = sizeof(mpi::Thread),
    .rows = mpi::rows,
    .requests = true,
    .sample_classes = mpi::classes_asked,
    .started = mpi::thread_starts,
    .pauses = mpi::pauses,
    .ended = mpi::thread_ends,
    .exiting = mpi::process_exits,
    .left = mpi::record_left,
    .change_sampling = mpi::change_sampling,
    .has_open_requests = mpi::has_open_requests,
    .depth_changes = mpi::change_depth,
    .monitor = &monitor::hooks,
    .forked = mpi::in_forked_child,
};
