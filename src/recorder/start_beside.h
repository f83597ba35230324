// Starts a process beside the program, which the program does not notice.
#pragma once

namespace tare::recorder {

// Starts the program arguments[0], in a session of its own. It is no child of this process, and gets only these
// variables: above all, nothing must be preloaded into it. All signals are blocked in it, and it has the open files of
// this process until it closes them. Both lists end with nullptr. Nothing happens if it cannot be started.
void start_beside(char* const* arguments, char* const* environment) noexcept;

}  // namespace tare::recorder
