#include "openmp/process.h"

#include "openmp/source.h"
#include "recorder/process.h"
#include "recorder/sources.h"

namespace tare::openmp {

constinit bool is_on = false;

[[gnu::constructor]] void choose() noexcept { is_on = recorder::run_given() && recorder::is_on(source); }

}  // namespace tare::openmp
