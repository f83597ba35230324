// Starts the node's keeper (src/keeper), which collects what killed processes leave where no `tare run` sees them.
#pragma once

namespace tare::recorder {

struct KeeperArguments {
  const char* program;
  const char* run_dir;
  const char* run_id;
  const char* run_key;  // nullptr: there is none
  const char* segment_dir;
  const char* file;  // of the node, in the run directory
};

// The variable that the keeper reads: the key of the run, which other users must not see.
inline constexpr char run_key_variable[] = "TARE_RUN_KEY";

// Only the first process of a node that calls it starts one, unless the keeper would become its child; also the first
// one after the keeper was killed. It ends when none of the node's processes is left.
void start_keeper(const KeeperArguments& arguments) noexcept;

}  // namespace tare::recorder
