#include "stacks/source.h"

#include "recorder/sources.h"
#include "stacks/sampler.h"

namespace tare::stacks {
namespace {

bool samples_stacks() noexcept { return recorder::is_on(source); }
void ended(recorder::Location&) noexcept { end_thread(); }

}  // namespace

constinit const recorder::Source source{
    .name = "stacks",
    .started = begin_thread,
    .depth_changes = change_depth,
    .ended = ended,
    .exiting = ended,
    .forked = begin_child,
    .samples_stacks = samples_stacks,
};

}  // namespace tare::stacks
