// Roles of point-to-point calls whose messages are sampled (src/mpi/sampling/). They come after the other roles of a
// wrapper, in a table of wrappers of its own (wrappers.h). So a run without sampling has none of them.
#pragma once

#include "mpi/roles/sampled_communicator.h"
#include "mpi/roles/sampled_persistent.h"
#include "mpi/roles/sampled_receive.h"
#include "mpi/roles/sampled_request.h"
#include "mpi/roles/sampled_send.h"
