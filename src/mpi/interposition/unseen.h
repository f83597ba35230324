// Processes that used MPI without calling a stub. They leave a line with the reason, which `tare run` shows.
#pragma once

namespace tare::mpi {

// The first word of a line. The executable and the detail that is described here follow, separated by tabs.
enum class Unseen {
  linked_in,  // MPI is part of the executable
  bypassed,   // references of an object, whose path follows, were not bound to this library
  elsewhere,  // the MPI library, whose path follows, is in a namespace of its own (dlmopen)
  unknown     // the path of the MPI library follows
};
inline constexpr char unseen_names[][16] = {"linked-in", "bypassed", "namespace", "unknown"};

// Lines are appended to a file in the run directory: this, followed by the name of the host.
inline constexpr char unseen_prefix[] = ".unseen-";

}  // namespace tare::mpi
