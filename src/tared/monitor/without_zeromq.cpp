// Replaces monitor_job.cpp where tare is built without ZeroMQ. `tare run --monitor` refuses then, so only somebody who
// starts tared by hand gets here.
#include "tared/job.h"
#include "tared/tree/bindable.h"

namespace tare::tared {

std::string why_not_bound(const std::string&) { return "this tare was built without ZeroMQ"; }

bool monitor(const Job&, const char*, const char*, bool) { return false; }

}  // namespace tare::tared
