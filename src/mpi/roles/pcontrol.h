// MPI_Pcontrol, by which a program controls a profiler. Levels 0 to 2 are those of the standard (MPI 5.0, section
// 15.2.4). The others, which it leaves to the profiler, are phases.
#pragma once

#include <cstdio>

#include "mpi/calls/measure.h"
#include "recorder/event_types.h"
#include "recorder/options.h"

namespace tare::mpi {

// For programs that do not call tare: 0, 1 and 2 are tare_pause(), tare_resume() and tare_flush()
// (include/tare/tare.h). 0: nothing of this thread is recorded from now on. 1: it is recorded again, and the phase
// ends. 2: writes the buffer. 3, in a monitored run: an offload point. Any other level: the phase "pcontrol LEVEL"
// begins and replaces the one that an earlier call has begun; a negative level ends it.
struct Controls : Role {
  int level;
  explicit Controls(int l) noexcept : level(l) {}

  void before(Thread& thread, recorder::Call&) noexcept {
    if (level != 0) thread.resume();
  }
  void committed(Thread& thread, const recorder::Call&, format::ProfileRow&, int) noexcept {
    switch (level) {
      case 0:
        thread.polls.end_streaks();
        return thread.pause();
      case 1:
        return change(thread, 0);
      case 2:
        thread.drain();
        return;
      case 3:
        if (thread.spans != nullptr) return recorder::library_options.monitor->offload(thread);
        return change(thread, phase_of(thread));
      default:
        return change(thread, level < 0 ? 0 : phase_of(thread));
    }
  }

 private:
  std::uint32_t phase_of(Thread& thread) const noexcept {
    if (thread.controlled_level == level) return thread.controlled_type;
    char name[32];
    std::snprintf(name, sizeof name, "pcontrol %d", level);
    const recorder::EventType type{format::EventClass::phase, 1, {format::ParameterType::u8}};
    thread.controlled_level = level;
    return thread.controlled_type = recorder::register_event_type(type, name, nullptr);
  }
  // type 0 is no phase
  static void change(Thread& thread, std::uint32_t type) noexcept {
    if (thread.control_phase != 0) {
      thread.leave_phase(thread.control_phase);
      note(thread, thread.control_phase, 0);
    }
    thread.control_phase = type;
    if (type != 0) {
      note(thread, type, 1);
      thread.enter_phase(type);
    }
  }
  static void note(Thread& thread, std::uint32_t type, std::uint64_t begins) noexcept {
    if (thread.traced()) recorder::commit_event(thread, type, recorder::now(), &begins, 1);
  }
};

}  // namespace tare::mpi
