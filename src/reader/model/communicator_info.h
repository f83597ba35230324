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
  std::string name;
  std::int32_t size = 0;
  bool inter = false;
  std::uint64_t key = 0;           // 0: not known
  std::optional<Members> members;  // if known; of an intercommunicator, the group of the first process found
  std::optional<Members> remote_members;

  // Rank in the world of a peer of the process that has `rank` there; -1 if it is of another world or not known.
  std::int32_t world_rank(std::int32_t rank, std::int32_t peer) const;
};

// A window or a file of the run.
struct ScopeInfo {
  int world = 0;
  bool is_file = false;
  format::WindowFlavour flavour = format::WindowFlavour::none;
  std::int32_t communicator = -1;  // index in Run::communicators()
  std::uint64_t key = 0;           // 0: not known
  std::string name;                // of a file, as it was opened
};

}  // namespace tare::reader
