#include "stack/source.h"

#include "recorder/location.h"
#include "stack/inside.h"
#include "stack/site.h"

namespace tare::stack {
namespace {

void begins() noexcept {
  notice_modules();
  choose_paths();
}
void started(recorder::Location& location) noexcept { begin_paths(static_cast<Thread&>(location)); }
void ended(recorder::Location&) noexcept { leave(); }
void exiting(recorder::Location&) noexcept { is_inside(TARE_CALLER); }
void forked() noexcept { reset_sites(); }

}  // namespace

constinit const recorder::Source call_paths{
    .name = "call paths",
    .is_always_on = true,
    .begins = begins,
    .started = started,
    .ended = ended,
    .exiting = exiting,
    .forked = forked,
};

}  // namespace tare::stack
