#include "openmp/source.h"

#include "openmp/constructs.h"

namespace tare::openmp {

constinit const recorder::Source source{.name = "openmp", .ended = forget_thread, .forked = forget_parent};

}  // namespace tare::openmp
