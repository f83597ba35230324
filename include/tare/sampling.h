/* A chooser and an analysis of your own for message sampling: shared objects that export tare_message_chooser_1() or
 * tare_message_analysis_1(). One object may export both.
 *
 *     cc -shared -fPIC -I$(prefix)/include my_chooser.c -o my_chooser.so
 *     tare run --sample my_chooser.so[:ARGUMENTS] -- mpiexec ...
 *     tare run --sample random:0.01,analysis=my_analysis.so[:ARGUMENTS] -- mpiexec ...
 *
 * They run inside the measured processes. Each process loads them once, when it first calls MPI. The functions must not
 * call MPI, throw, jump, exit, or wait for something that the program does, and they should be short: the program
 * waits for them. tare measures their time, and shows it in its cost account. ARGUMENTS contain no comma.
 *
 * Texts that a function gets are valid until it returns. Ranks are those in MPI_COMM_WORLD. Times are nanoseconds.
 */
#ifndef TARE_SAMPLING_H
#define TARE_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* tare also runs objects that were compiled for earlier versions. Later versions may add members at the end of
 * tare_message and tare_sampled_message. */
#define TARE_SAMPLING_VERSION 1u

/* A message that is about to be sent. A channel is (communicator, source, destination, tag). */
typedef struct tare_message {
  uint64_t channel; /* a hash of the channel, equal on both sides; 0: not known, and the message has no pair */
  uint64_t number;  /* in its channel, from 1 */
  uint64_t bytes;
  uint64_t communicator; /* equal on all of its members; 0: not known */
  int32_t source;
  int32_t destination;
  int32_t tag;
  uint32_t site;        /* the call site that sends: its number in this process; 0: not known */
  uint64_t site_key;    /* a hash of its call path, equal in all processes and runs of the same binaries */
  const char* function; /* "MPI_Isend" */
  const char* phase;    /* the innermost phase that the thread is in; "": none */
  int64_t time_ns;      /* CLOCK_MONOTONIC_RAW */
  double random;        /* uniform in [0, 1): a hash of `seed=`, channel and number, so that a run can be repeated */
} tare_message;

/* Functions of a chooser. If the program uses MPI_THREAD_MULTIPLE, several threads may call choose() at a time. */
typedef struct tare_message_chooser {
  uint32_t version; /* TARE_SAMPLING_VERSION */
  /* `arguments` is what follows the colon, or "". NULL if they are wrong, or memory is short: nothing is sampled then.
   */
  void* (*begin)(const char* arguments);
  /* Called once for each message that satisfies the keys of the SPEC. Returns whether it is chosen, not 0 or 0.
   * Sets *probability to the probability with which this message was to be chosen, whatever happens to others. It is 0
   * before the call: not known. Each chosen message then represents 1 / *probability messages. If it is not above 0 and
   * at most 1, nothing is estimated from this message. */
  int (*choose)(void* chooser, const tare_message* message, double* probability);
  void (*end)(void* chooser);
} tare_message_chooser;

/* A sampled message: both sides of it are known. docs/samples.md shows what the times mean. They are times of
 * CLOCK_MONOTONIC_RAW; of the first node, if the message came from another node. */
typedef struct tare_sampled_message {
  uint64_t channel;
  uint64_t number;
  uint64_t bytes;
  uint64_t communicator;
  int32_t source;
  int32_t destination;
  int32_t tag;
  uint32_t send_site;        /* number in the process of the source; 0: not known */
  uint32_t receive_site;     /* number in this process; 0: not known */
  uint32_t uncertainty_ns;   /* of the times of both sides relative to each other; 0 on one node */
  uint64_t receive_site_key; /* as tare_message::site_key */
  int64_t send_ns;           /* the send begins, */
  int64_t posted_ns;         /* the receive is posted, */
  int64_t waited_ns;         /* the call that completes it begins, */
  int64_t end_ns;            /* and ends */
  int64_t latency_ns;        /* end_ns - send_ns, at least 0 */
  double weight;             /* 1 / the probability of its choice; 0: not known */
} tare_sampled_message;

/* Takes bytes of a result; may be called more than once, for one after another. */
typedef void tare_analysis_output(void* to, const void* bytes, size_t size);

/* Functions of an analysis. They are never called by two threads at a time. */
typedef struct tare_message_analysis {
  uint32_t version;                      /* TARE_SAMPLING_VERSION */
  void* (*begin)(const char* arguments); /* as of a chooser */
  /* Called once for each sampled message that this process has received, soon after that. */
  void (*add)(void* analysis, const tare_sampled_message* message);
  /* Called in MPI_Finalize. tare keeps the first 65,536 bytes in the run directory; `tare samples` shows them, as text.
   */
  void (*write)(void* analysis, tare_analysis_output* output, void* to);
  void (*end)(void* analysis);
} tare_message_analysis;

/* What shared objects export, in every version. The results live as long as the object is loaded. */
const tare_message_chooser* tare_message_chooser_1(void);
const tare_message_analysis* tare_message_analysis_1(void);

#ifdef __cplusplus
}
#endif

#endif
