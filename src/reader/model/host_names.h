// The names of the hosts of a run, where several machines have the same.
#pragma once

#include <vector>

#include "reader/model/process.h"

namespace tare::reader {

// If processes of one host name ran on different machines (which may all be called "localhost"), adds to the name of
// the second machine " (machine 2)", and so on. Machines are in the order of their first process in the list. Processes
// whose machine is not known, in earlier files, keep their name.
void distinguish_hosts(const std::vector<Process*>& processes);

}  // namespace tare::reader
