#include "openmp/source.h"

#include "openmp/constructs.h"
#include "openmp/gomp_next.h"

namespace tare::openmp {
namespace {

void begin_child() noexcept {
  release_next();
  forget_parent();
}

}  // namespace

constinit const recorder::Source source{.name = "openmp", .ended = forget_thread, .forked = begin_child};

}  // namespace tare::openmp
