/* A filter of your own for tare's monitoring tree: a shared object that exports tare_filter_1().
 *
 *     cc -shared -fPIC -I$(prefix)/include my_filter.c -o my_filter.so
 *     tare run --monitor=1s,filter=my_filter.so[:ARGUMENTS] -- mpiexec ...
 *
 * A node of the tree makes one reduction for each round under way: begin(), then add() for each of its ranks and
 * merge() for what each child has written, then write() for its parent, then clear() for a later round. The result of
 * the run is what the root writes. For a result that does not depend on the tree, merging must be commutative and
 * associative. Calls come from one thread. A filter must not call MPI, exit or throw.
 *
 * Several filters can reduce the same rounds: filter=statistics+my_filter.so:ARGUMENTS. Such a filter is asked by
 * merge() first whether bytes are a result, in a reduction of its own that is then cleared. ARGUMENTS contain no plus.
 */
#ifndef TARE_FILTER_H
#define TARE_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums since the program began. A counter has no time: `calls` is how often it was set, and `bytes` is its value. */
typedef struct tare_metrics {
  double calls;
  double time_ns;
  double bytes;
} tare_metrics;

typedef enum tare_event_kind {
  TARE_EVENT_FUNCTION = 1, /* of MPI; with `site=`, the call site follows its name: "MPI_Send solver.c:120" */
  TARE_EVENT_REGION = 2,
  TARE_EVENT_PHASE = 3,
  TARE_EVENT_COUNTER = 4
} tare_event_kind;

/* What an event is. Texts are UTF-8, as the program gave them. */
typedef struct tare_event {
  uint64_t key; /* as in snapshots; equal on all ranks and in all runs */
  tare_event_kind kind;
  const char* name;
  const char* unit; /* of a counter; "" if it has none, and for all other events */
} tare_event;

/* The definitions of the events that this node of the tree knows. */
typedef struct tare_events tare_events;
struct tare_events {
  /* NULL if no event of a snapshot or result has had this key. Lives as long as `events`. */
  const tare_event* (*find)(const tare_events* events, uint64_t key);
};

/* What one rank has done since the program began. Lives until add() returns. */
typedef struct tare_snapshot {
  uint64_t round;
  uint32_t rank;        /* in MPI_COMM_WORLD */
  int64_t offloaded_ns; /* since the epoch */
  size_t events;
  const uint64_t* keys;       /* of each event, ascending: a hash of what identifies it */
  const tare_metrics* values; /* of each event */
} tare_snapshot;

/* Takes bytes of a result; may be called more than once, for one after another. */
typedef void tare_filter_output(void* to, const void* bytes, size_t size);

typedef struct tare_filter {
  uint32_t version; /* TARE_FILTER_VERSION */
  /* `arguments` is what follows the colon, or "". NULL if they are wrong, or memory is short: the tree then does not
   * start. */
  void* (*begin)(const char* arguments);
  void (*add)(void* reduction, const tare_snapshot* snapshot);
  /* 0, or another number if the bytes are none that write() makes. The reduction must be unchanged then. */
  int (*merge)(void* reduction, const void* bytes, size_t size);
  void (*write)(const void* reduction, tare_filter_output* output, void* to);
  void (*clear)(void* reduction);
  void (*end)(void* reduction);
  /* Since version 2; may be NULL. Called after begin(): `events` lives as long as the reduction. Every event is defined
   * there before add() or merge() is called with it. */
  void (*know)(void* reduction, const tare_events* events);
} tare_filter;

/* tare also runs filters that were compiled for earlier versions. */
#define TARE_FILTER_VERSION 2u

/* What the shared object exports, in every version. Lives as long as the object is loaded. */
const tare_filter* tare_filter_1(void);

#ifdef __cplusplus
}
#endif

#endif
