/* Regions, counters, markers, phases and events from C: `events [directory of a run of its own]`. */
#include <stdio.h>
#include <string.h>
#include <tare/tare.h>

int main(int argc, char** argv) {
  if (argc > 1 && tare_start(argv[1]) != 0) {
    perror(argv[1]);
    return 1;
  }
  const tare_id iterate = tare_define_phase("iterate");
  const tare_id solve = tare_define_region("solve");
  const tare_id memory = tare_define_counter("memory", "bytes");
  const tare_id restart = tare_define_marker("restart");
  const tare_id step = tare_define_event("step", "id");
  const tare_id sizes = tare_define_packed("sizes");
  const tare_id text = tare_define_raw("log");

  tare_begin_phase(iterate);
  for (int i = 0; i < 3; ++i) {
    tare_enter(solve);
    tare_count(memory, 1024.0 * i);
    tare_record2(step, (uint64_t)(int64_t)-i, tare_word_of_double(0.5 * i));
    tare_record3(sizes, 1, 1000, UINT64_MAX);
    tare_leave(solve);
  }
  tare_mark(restart);
  const char* line = "converged";
  tare_record_raw(text, line, strlen(line));
  tare_pause();
  tare_mark(restart); /* not recorded */
  tare_resume();
  tare_end_phase(iterate);
  tare_flush(); /* the buffer of the trace is written now */
  puts(tare_recording() ? "recorded" : "not recorded");
  return 0;
}
