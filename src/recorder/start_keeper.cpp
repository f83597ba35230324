#include "recorder/start_keeper.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "recorder/node_words.h"
#include "recorder/start_beside.h"

namespace tare::recorder {
namespace {

// Whether processes that have lost their parent become children of this one, whose wait() would then find them: it is
// the first of its PID namespace, with which all others there die, or has asked for it.
bool adopts() noexcept {
  int is_subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
  return getpid() == 1 || is_subreaper != 0;
}

}  // namespace

void start_keeper(const KeeperArguments& given) noexcept {
  if (adopts()) return;
  if (!takes_on_keeper()) return;
  char* const arguments[] = {const_cast<char*>(given.program), const_cast<char*>(given.run_dir),
                             const_cast<char*>(given.run_id),  const_cast<char*>(given.segment_dir),
                             const_cast<char*>(given.file),    nullptr};
  char key[sizeof run_key_variable + 64] = "";
  if (given.run_key != nullptr) std::snprintf(key, sizeof key, "%s=%.40s", run_key_variable, given.run_key);
  char* const environment[] = {given.run_key == nullptr ? nullptr : key, nullptr};
  start_beside(arguments, environment);
}

}  // namespace tare::recorder
