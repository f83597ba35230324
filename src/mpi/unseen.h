// Processes that used MPI and whose calls nobody saw: they leave a line that says why, for `tare run` to show.
#pragma once

namespace tare::mpi {

// What a line says first; the rest of it is the executable, then what is told here, all separated by tabs.
enum class Unseen {
  linked_in,  // MPI is part of the executable
  bypassed,   // references of an object, whose path follows, are bound past this library
  elsewhere,  // the MPI library, whose path follows, is in a namespace of its own (dlmopen)
  unknown     // the path of the MPI library follows
};
inline constexpr char unseen_names[][16] = {"linked-in", "bypassed", "namespace", "unknown"};

// Lines are appended to this and the name of the host, in the run directory.
inline constexpr char unseen_prefix[] = ".unseen-";

}  // namespace tare::mpi
