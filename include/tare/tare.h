/* tare's recorder, for programs and other tools: regions, counters, markers, phases and events of their own, in
 * the same trace as the MPI calls that `tare run` records. Works without MPI.
 *
 * Link with -ltare_record (CMake: tare::record, pkg-config: tare). Under `tare run --trace` the events go to that
 * run; a program can also make a run of its own with tare_start(). Otherwise every function returns at once.
 *
 * Threads: all functions may be called by any thread at any time. Each thread has a buffer of its own; recording
 * takes no lock. Recording never fails in a way that the program has to care for: what cannot be kept is counted.
 */
#ifndef TARE_TARE_H
#define TARE_TARE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define TARE_API __attribute__((visibility("default")))
#else
#  define TARE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A registered name. Registering a name again gives its number again. 0 stands for no name: recording it does
 * nothing. Numbers are this process's own. */
typedef uint32_t tare_id;

enum { TARE_MAX_PARAMETERS = 10, TARE_MAX_RAW_BYTES = 2048 };

/* Begins a run in a new directory; NULL: <program>-<time> in the current directory, the time in UTC. Within
 * `tare run` it does nothing. Returns 0, or -1 if the directory cannot be made (errno says why), or if the program has
 * more rights than its caller (set-user-ID). */
TARE_API int tare_start(const char* run_directory);

/* 1 if events are recorded, else 0. */
TARE_API int tare_recording(void);

/* A span of the program, entered and left by one thread; spans nest. */
TARE_API tare_id tare_define_region(const char* name);
TARE_API void tare_enter(tare_id region);
TARE_API void tare_leave(tare_id region);

/* A stretch of the run, such as "setup" or "iterate", as this thread goes through it. Phases nest; the profile has the
 * time and the MPI calls of each, also without a trace. */
TARE_API tare_id tare_define_phase(const char* name);
TARE_API void tare_begin_phase(tare_id phase);
TARE_API void tare_end_phase(tare_id phase);

/* Which messages are sampled from here on, as `tare run --sample` takes it (docs/samples.md). For a program that runs
 * under `tare run --sample SPEC`; every rank says it for the messages that it sends. Returns 0, or -1 and a line on
 * stderr if nothing changes. */
TARE_API int tare_sample(const char* spec);

/* From here on nothing that this thread does is recorded: no MPI calls in profile and trace, no events, and of the
 * messages that it sends or receives none is sampled; until tare_resume(). Phases go on, and count their time. Regions
 * are to be entered and left on the same side of it. MPI_Pcontrol(0) and MPI_Pcontrol(1) do the same. */
TARE_API void tare_pause(void);
TARE_API void tare_resume(void);

/* Writes what this thread has recorded of the trace to the run, and so frees its buffer, at a time of the program's
 * choice. Nothing is lost without it. MPI_Pcontrol(2) does the same. */
TARE_API void tare_flush(void);

/* The program has come round: an iteration, a time step. For `tare run --weigh`, which needs to know what the program
 * repeats, where that is not a collective operation of all ranks. Every rank says it equally often, in the same order
 * with respect to its messages; one thread of a rank, that which first called MPI. From the first time on, only this
 * counts. Otherwise it does nothing. */
TARE_API void tare_progress(void);

/* A point of the program at which a run under `tare run --monitor` may hand its profile to the monitor: an iteration, a
 * time step. Every rank comes to it equally often, as the number of the point says which snapshots belong together; one
 * thread of a rank, the first that does. Takes a microsecond; otherwise it does nothing. MPI_Pcontrol(3) does the same
 * in such a run. */
TARE_API void tare_offload(void);

/* What a run under `tare run --monitor` knows of its monitoring tree, for profiles of so many events
 * (docs/monitoring.md has the definitions, which are those of Nataraj et al., CLUSTER 2008). Times are seconds; what is
 * not known, or not yet, is negative. Each mean is followed by its standard deviation. */
typedef struct tare_sweet_spot {
  uint32_t events;   /* the size of the profiles that this is about; 0: not known */
  uint32_t source;   /* how the BOI and the delay at rest are known: one of TARE_SPOT_... */
  uint32_t is_bound; /* 1: `boi` is the shortest interval that points of this run allow; the tree takes that, or more */
  double boi;        /* bottleneck offload interval: the shortest time between offloads that does not queue */
  double boi_spread; /* it was found between values that are so far apart */
  double resting_delay; /* one-way delay of a round that waits for no other: first offload to arrival at the root */
  double resting_delay_deviation;
  double delay; /* the same of the last rounds of the program */
  double delay_deviation;
  double direct_cost; /* an offload of this rank, from its start to its end */
  double direct_cost_deviation;
  double overall_cost; /* how much longer an iteration of this rank is with an offload; not known if the deviation is
                          negative. Iterations are between points of the program: those of the clock have none */
  double overall_cost_deviation;
} tare_sweet_spot;

enum {
  TARE_SPOT_UNKNOWN = 0,
  TARE_SPOT_MEASURED = 1,    /* found in this run */
  TARE_SPOT_CACHED = 2,      /* found earlier, by a run or by `tare sweetspot`, on such a tree of this machine */
  TARE_SPOT_INTERPOLATED = 3 /* between two sizes of which it was found */
};

/* Fills `spot` in for profiles of `events` events; 0: of the size that those of the program have now. The
 * overall cost is known for that size alone. Returns 1 if the BOI is known, else 0.
 * Reads memory that is there: it waits for nobody and makes no system call. */
TARE_API int tare_find_sweet_spot(uint32_t events, tare_sweet_spot* spot);

/* A message that a user has sent to this rank, or to all, with `tare monitor RUN --send NAME=VALUE`. */
typedef struct tare_control_message {
  char name[32];
  int32_t type; /* one of TARE_CONTROL_... */
  int64_t integer;
  double real;
  char text[72]; /* UTF-8, at most 64 bytes */
  uint64_t lost; /* messages that this process has missed so far: 16 can wait to be asked for */
} tare_control_message;

enum { TARE_CONTROL_NONE = 0, TARE_CONTROL_INTEGER = 1, TARE_CONTROL_REAL = 2, TARE_CONTROL_TEXT = 3 };

/* The next message of a user, for a program that runs under `tare run --monitor`: 1, or 0 if there is none (`lost` is
 * filled in all the same). Every rank gets a message at or after the same offload point, and one thread of it does. To
 * be called in an iteration, behind its offload point, until it gives 0. Reads memory that is there: it waits for
 * nobody and makes no system call. */
TARE_API int tare_control(tare_control_message* message);

/* A value over time. The unit is a text such as "bytes", or NULL. */
TARE_API tare_id tare_define_counter(const char* name, const char* unit);
TARE_API void tare_count(tare_id counter, double value);

/* A point in time. */
TARE_API tare_id tare_define_marker(const char* name);
TARE_API void tare_mark(tare_id marker);

/* An event with 0 to 10 typed parameters (LiTL: regular). `types` has one letter for each, as Python's struct:
 * b B  h H  i I  q Q  (signed and unsigned integers of 1, 2, 4 and 8 bytes), f (float), d (double). Gives 0 for
 * another letter or more than 10. */
TARE_API tare_id tare_define_event(const char* name, const char* types);

/* An event with 0 to 10 unsigned parameters, each kept in the bytes that it needs (LiTL: packed). */
TARE_API tare_id tare_define_packed(const char* name);

/* Records an event: `count` parameters of 8 bytes each. Integers are extended to 8 bytes, a double is its 8 bytes,
 * a float its 4 bytes and zeros (see tare_word_of_double and similar functions). More than 10 are cut. */
TARE_API void tare_record(tare_id event, const uint64_t* parameters, unsigned count);

/* The same for few parameters, without an array. */
TARE_API void tare_record0(tare_id event);
TARE_API void tare_record1(tare_id event, uint64_t p1);
TARE_API void tare_record2(tare_id event, uint64_t p1, uint64_t p2);
TARE_API void tare_record3(tare_id event, uint64_t p1, uint64_t p2, uint64_t p3);
TARE_API void tare_record4(tare_id event, uint64_t p1, uint64_t p2, uint64_t p3, uint64_t p4);

/* An event of text or bytes (LiTL: raw), at most TARE_MAX_RAW_BYTES; longer ones are cut. */
TARE_API tare_id tare_define_raw(const char* name);
TARE_API void tare_record_raw(tare_id event, const void* data, size_t bytes);

static inline uint64_t tare_word_of_double(double value) {
  union {
    double value;
    uint64_t word;
  } both;
  both.value = value;
  return both.word;
}
static inline uint64_t tare_word_of_float(float value) {
  union {
    float value;
    uint32_t word;
  } both;
  both.value = value;
  return both.word;
}

#ifdef __cplusplus
}
#endif

#endif
