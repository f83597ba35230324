#include "files/process.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "files/source.h"
#include "recorder/process.h"
#include "recorder/sources.h"

namespace tare::files {

constinit bool is_on = false;

namespace {

constinit pid_t own_process = 0;

void note_process() noexcept { own_process = getpid(); }

// Shells, and what starts the processes of a job, are no part of the program.
bool is_launcher(std::string_view name) noexcept {
  for (const std::string_view begin : {"mpiexec", "mpirun", "hydra_", "orte", "prte"})
    if (name.starts_with(begin)) return true;
  for (const std::string_view known : {"orted", "prun", "srun", "slurmstepd", "sh", "bash", "dash", "zsh", "ksh"})
    if (name == known) return true;
  return false;
}

// Not at the first call, which may be in a signal handler.
[[gnu::constructor]] void choose() noexcept {
  if (!recorder::run_given() || !recorder::is_on(source) || is_launcher(program_invocation_short_name)) return;
  note_process();
  pthread_atfork(nullptr, nullptr, note_process);
  is_on = true;
}

}  // namespace

bool is_own_process() noexcept { return own_process == getpid(); }

}  // namespace tare::files
