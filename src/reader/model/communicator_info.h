// Communicators of a run, and the windows and files made with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reader/model/definitions.h"

namespace tare::reader {

// A communicator of the run.
struct CommunicatorInfo {
  int world = 0;
  std::string name;       // "#3" for the one at index 3 of Run::communicators() if the program gave it none
  std::int32_t size = 0;  // of an intercommunicator: of both groups
  bool inter = false;
  std::uint64_t key = 0;                  // 0: not known
  std::optional<Members> members;         // nothing: not known; of an intercommunicator: the local group of one process
  std::optional<Members> remote_members;  // of an intercommunicator: the other group

  // The rank in the world of the process that the process with world rank `rank` addresses as `peer`. In an
  // intercommunicator, that is a member of the remote group. -1 if it is not known or belongs to another world.
  std::int32_t world_rank(std::int32_t rank, std::int32_t peer) const;
};

// A window or a file of the run.
struct ScopeInfo {
  int world = 0;
  bool is_file = false;
  format::WindowFlavour flavour = format::WindowFlavour::none;
  std::int32_t communicator = -1;  // index in Run::communicators()
  std::uint64_t key = 0;           // 0: not known
  std::string name;                // of a file: the argument of MPI_File_open; of the n-th window: "#n" if it has none
};

}  // namespace tare::reader
