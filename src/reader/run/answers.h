// Questions of other nodes: which calls are the processes of this node in? `tare where` asks, on any node that shares
// the run directory; a keeper, or `tare run`, answers for the segments that it sees.
//
// A question is a line of the file `.asked` in the run directory: 16 hexadecimal digits. Who asks makes an empty file
// for each answer before, `.seen-<digits>` for that of `tare run` and `.seen-<digits>-<who>` for that of a keeper, and
// removes it afterwards. So both look again and again at files that exist: on NFS, opening one shows what others have
// written to it, but a name that was looked for in vain may stay unknown for a minute, and nobody is told of changes.
//
// An answer consists of chunks, as the files of a run do, and of `end_of_answer`. It has all that is in the segments
// but for the events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/run/left_segments.h"
#include "reader/run/run_paths.h"
#include "reader/store/run_directory.h"

namespace tare::reader {

inline constexpr char questions_file[] = ".asked";

class Respondent {
 public:
  // Answers what is asked from now on. `who`: whose answer it is; empty: that of `tare run`. `paths` must outlive the
  // object. `how`: what is known of the ends of processes.
  Respondent(const RunPaths& paths, std::string who, Collecting how = {});

  // Answers what was asked since the last call, and returns whether anything was. Costs the run directory one opening
  // if nothing was. An answer that cannot be written has no end.
  bool answer();

  // Whether the file of the questions was not there at the last look: who has written how the run ended removes it,
  // with the notes of those who answer.
  bool is_forgotten() const { return is_forgotten_; }

 private:
  std::vector<std::string> new_questions();
  void answer(const std::string& question);

  const RunPaths& paths_;
  std::string who_;
  Collecting how_;
  std::optional<RunDirectory> directory_;
  std::uint64_t read_ = 0;  // bytes of the questions
  bool is_forgotten_ = false;
};

}  // namespace tare::reader
