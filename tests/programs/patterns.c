/* patterns FIRST COUNT [MARKS]: COUNT programs of random point-to-point messages, from the seeds FIRST on, one after
 * another on the same ranks. All of MPI's ways to send, receive, complete, probe and cancel, on several communicators.
 * Every message says in its payload which it is, and every length between two ranks is another (until they repeat), so
 * that a pair of a send and another message's receive shows. Ranks write what they have received to MARKS.<rank>: rank
 * of the source, tag, number in its channel, bytes.
 *
 * All ranks draw the same random numbers, so that each knows what the others do. In an *ordered* round the messages are
 * exchanged one after another, so that blocking calls of every kind go well. In a *free* round all is posted at
 * once, with wildcards, and may match in many ways: receives that are left over are cancelled, messages that are left
 * over are probed for and received. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_ranks = 8, tags = 3, comms = 5, most = 24, lengths = 3000, large = 80000, room = 32 + 8 * lengths + large };
enum { of_world, of_dup, of_reversed, of_inter, of_self };

struct head {
  int32_t source, dest, comm, tag;
  int64_t number, bytes;
};

static MPI_Comm comm_of[comms], control;
static int rank, size;
static long sent_to[max_ranks];                       /* messages, for lengths */
static long numbers[comms][max_ranks][tags];          /* of the channels from here */
static long sent, received, cancelled, truncated, unseen;
static FILE* marks;
static uint64_t state;

static unsigned draw(unsigned below) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (unsigned)((x ^ (x >> 31)) >> 33) % below;
}

static void check(int fine, const char* what) {
  if (fine) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Rank in a communicator of a rank of the world. */
static int in_comm(int comm, int of) {
  if (comm == of_reversed) return size - 1 - of;
  if (comm == of_inter) return of / 2;
  return comm == of_self ? 0 : of;
}

struct message {
  int source, dest, comm, tag, kind, how, is_large;
};

/* A message from any rank to any other, or the same. */
static struct message draw_message(void) {
  struct message m;
  m.comm = (int)draw(comms);
  m.source = (int)draw((unsigned)size);
  m.dest = (int)draw((unsigned)size);
  if (m.comm == of_inter && (m.source - m.dest) % 2 == 0) m.dest = (m.source + 1) % (size / 2 * 2);
  if (m.comm == of_inter && (m.source - m.dest) % 2 == 0) m.comm = of_world;
  if (m.comm == of_self) m.dest = m.source;
  m.tag = (int)draw(tags);
  m.kind = (int)draw(1000);
  m.how = (int)draw(1000);
  m.is_large = draw(8) == 0;
  return m;
}

/* Fills the message and gives its length. */
static int fill(const struct message* m, char* buffer) {
  struct head h = {m->source, m->dest, m->comm, m->tag, ++numbers[m->comm][m->dest][m->tag], 0};
  h.bytes = (long)sizeof h + 8 * (sent_to[m->dest]++ % lengths) + (m->is_large ? large : 0);
  memcpy(buffer, &h, sizeof h);
  ++sent;
  return (int)h.bytes;
}

static void take(int comm, const char* buffer, const MPI_Status* status) {
  struct head h;
  int bytes = 0;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  memcpy(&h, buffer, sizeof h);
  check(h.comm == comm && h.dest == rank && h.bytes == bytes, "a message that was not sent to here");
  check(h.tag == status->MPI_TAG && in_comm(comm, h.source) == status->MPI_SOURCE, "a status that is not the message's");
  if (marks != NULL) fprintf(marks, "%d %d %ld %d\n", h.source, h.tag, (long)h.number, bytes);
  ++received;
}

/* Completes one request by any of the calls that can. */
static void complete(MPI_Request* request, MPI_Status* status, unsigned how) {
  int done = 0, index = 0;
  switch (how % 8) {
    case 0: MPI_Wait(request, status); return;
    case 1: while (!done) MPI_Test(request, &done, status); return;
    case 2: MPI_Waitall(1, request, status); return;
    case 3: while (!done) MPI_Testall(1, request, &done, status); return;
    case 4: MPI_Waitany(1, request, &index, status); return;
    case 5: while (!done) MPI_Testany(1, request, &index, &done, status); return;
    case 6: MPI_Waitsome(1, request, &done, &index, status); return;
    default: while (done != 1) MPI_Testsome(1, request, &done, &index, status); return;
  }
}

/* ---- one after another */

static void send_one(const struct message* m, char* buffer) {
  const MPI_Comm comm = comm_of[m->comm];
  const int to = in_comm(m->comm, m->dest), tag = m->tag;
  const int bytes = fill(m, buffer);
  MPI_Request request = MPI_REQUEST_NULL;
  char go;
  switch (m->kind % 14) {
    case 0: MPI_Ssend(buffer, bytes, MPI_BYTE, to, tag, comm); break;
    case 1: MPI_Bsend(buffer, bytes, MPI_BYTE, to, tag, comm); break;
    case 2: /* the receive has been posted */
      MPI_Recv(&go, 1, MPI_CHAR, m->dest, 0, control, MPI_STATUS_IGNORE);
      MPI_Rsend(buffer, bytes, MPI_BYTE, to, tag, comm);
      break;
    case 3: MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, comm, &request); break;
    case 4: MPI_Issend(buffer, bytes, MPI_BYTE, to, tag, comm, &request); break;
    case 5: MPI_Ibsend(buffer, bytes, MPI_BYTE, to, tag, comm, &request); break;
    case 6:
      MPI_Send_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
      MPI_Start(&request);
      break;
    case 7:
      MPI_Ssend_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
      MPI_Startall(1, &request);
      break;
    case 8: MPI_Sendrecv(buffer, bytes, MPI_BYTE, to, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm,
                         MPI_STATUS_IGNORE); break;
    case 9: MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, to, tag, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE); break;
    case 10: { /* not in one piece */
      MPI_Datatype gappy;
      static char spread[2 * room];
      for (int i = 0; i < bytes / 8; ++i) memcpy(spread + 16 * i, buffer + 8 * i, 8);
      MPI_Type_vector(bytes / 8, 8, 16, MPI_BYTE, &gappy);
      MPI_Type_commit(&gappy);
      MPI_Send(spread, 1, gappy, to, tag, comm);
      MPI_Type_free(&gappy);
      break;
    }
    default: MPI_Send(buffer, bytes, MPI_BYTE, to, tag, comm); break;
  }
  if (request == MPI_REQUEST_NULL) return;
  MPI_Status status;
  complete(&request, &status, (unsigned)m->how);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

static void receive_one(const struct message* m, char* buffer) {
  const MPI_Comm comm = comm_of[m->comm];
  const int from = in_comm(m->comm, m->source), tag = m->how % 3 ? m->tag : MPI_ANY_TAG;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message handle;
  MPI_Status status;
  int found = 0;
  if (m->kind % 14 == 2) { /* ready mode */
    char go = 1;
    MPI_Irecv(buffer, room, MPI_BYTE, from, tag, comm, &request);
    MPI_Send(&go, 1, MPI_CHAR, m->source, 0, control);
    complete(&request, &status, (unsigned)m->how);
    take(m->comm, buffer, &status);
    return;
  }
  switch (m->how % 13) {
    case 0:
      MPI_Probe(from, tag, comm, &status);
      MPI_Recv(buffer, room, MPI_BYTE, from, tag, comm, &status);
      break;
    case 1:
      while (!found) MPI_Iprobe(from, tag, comm, &found, &status);
      MPI_Recv(buffer, room, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      break;
    case 2:
      MPI_Mprobe(from, tag, comm, &handle, &status);
      MPI_Mrecv(buffer, room, MPI_BYTE, &handle, &status);
      break;
    case 3:
      while (!found) MPI_Improbe(from, tag, comm, &found, &handle, MPI_STATUS_IGNORE);
      MPI_Imrecv(buffer, room, MPI_BYTE, &handle, &request);
      break;
    case 4:
      MPI_Recv_init(buffer, room, MPI_BYTE, from, tag, comm, &request);
      MPI_Start(&request);
      break;
    case 5:
      MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, room, MPI_BYTE, from, tag, comm, &status);
      break;
    case 6:
      MPI_Sendrecv_replace(buffer, room, MPI_BYTE, MPI_PROC_NULL, 0, from, tag, comm, &status);
      break;
    case 7:
      if (m->is_large) {
        MPI_Recv(buffer, room, MPI_BYTE, from, tag, comm, &status);
        break;
      }
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      check(MPI_Recv(buffer, 16, MPI_BYTE, from, tag, comm, &status) != MPI_SUCCESS, "no truncation");
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
      ++truncated;
      return;
    case 8: { /* nobody asks what came */
      MPI_Recv(buffer, room, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
      ++unseen;
      return;
    }
    case 9:
    case 10:
    case 11: MPI_Irecv(buffer, room, MPI_BYTE, from, tag, comm, &request); break;
    default: MPI_Recv(buffer, room, MPI_BYTE, from, tag, comm, &status); break;
  }
  if (request != MPI_REQUEST_NULL) complete(&request, &status, (unsigned)m->how / 13);
  take(m->comm, buffer, &status);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

static void exchange_with_self(const struct message* m, char* buffer, char* other) {
  const MPI_Comm comm = comm_of[m->comm];
  const int self = in_comm(m->comm, rank), any = m->comm == of_self ? MPI_ANY_SOURCE : self;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  const int bytes = fill(m, buffer), receive_first = m->how % 2;
  if (m->how / 2 % 4 == 0) { /* both at once */
    MPI_Recv_init(other, room, MPI_BYTE, self, m->tag, comm, &requests[receive_first]);
    MPI_Send_init(buffer, bytes, MPI_BYTE, self, m->tag, comm, &requests[1 - receive_first]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    take(m->comm, other, &statuses[receive_first]);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    return;
  }
  if (receive_first) MPI_Irecv(other, room, MPI_BYTE, self, m->tag, comm, &requests[0]);
  MPI_Isend(buffer, bytes, MPI_BYTE, self, m->tag, comm, &requests[1]);
  if (!receive_first) MPI_Irecv(other, room, MPI_BYTE, any, m->tag, comm, &requests[0]);
  MPI_Waitall(2, requests, statuses);
  take(m->comm, other, &statuses[0]);
}

/* Both ranks send and receive in one call. */
static void exchange(const struct message* there, const struct message* back, char* buffer, char* other) {
  const struct message* mine = rank == there->source ? there : back;
  const int peer = in_comm(mine->comm, mine->dest);
  MPI_Status status;
  const int bytes = fill(mine, buffer), tag = mine == there ? back->tag : there->tag;
  MPI_Sendrecv(buffer, bytes, MPI_BYTE, peer, mine->tag, other, room, MPI_BYTE, peer, tag, comm_of[mine->comm], &status);
  take(mine->comm, other, &status);
}

static void ordered_round(char* buffer, char* other) {
  const int count = 4 + (int)draw(most - 4);
  for (int i = 0; i < count; ++i) {
    struct message m = draw_message();
    if (m.source == m.dest) {
      if (rank == m.source) exchange_with_self(&m, buffer, other);
    } else if (m.kind % 14 == 13) {
      struct message back = m;
      back.source = m.dest;
      back.dest = m.source;
      back.tag = (int)draw(tags);
      if (rank == m.source || rank == m.dest) exchange(&m, &back, buffer, other);
    } else {
      if (rank == m.source) send_one(&m, buffer);
      if (rank == m.dest) receive_one(&m, buffer);
    }
  }
}

/* ---- all at once */

struct posted {
  MPI_Request request;
  int comm, was_asked_to_cancel;
  char* buffer;
};
static struct posted receives[2 * most], sends[2 * most];
static int receive_count, send_count;

static void post_receive(const struct message* m, char* buffer) {
  struct posted* p = &receives[receive_count++];
  const int from = m->how % 3 ? in_comm(m->comm, m->source) : MPI_ANY_SOURCE;
  const int tag = m->how / 3 % 3 ? m->tag : MPI_ANY_TAG;
  p->comm = m->comm;
  p->buffer = buffer;
  p->was_asked_to_cancel = m->how / 36 % 8 == 0;
  if (m->how / 9 % 4 != 0) {
    MPI_Irecv(buffer, room, MPI_BYTE, from, tag, comm_of[m->comm], &p->request);
  } else {
    MPI_Recv_init(buffer, room, MPI_BYTE, from, tag, comm_of[m->comm], &p->request);
    MPI_Start(&p->request);
  }
  if (p->was_asked_to_cancel) MPI_Cancel(&p->request);
}

static void start_send(const struct message* m, char* buffer) {
  struct posted* p = &sends[send_count++];
  const MPI_Comm comm = comm_of[m->comm];
  const int to = in_comm(m->comm, m->dest), bytes = fill(m, buffer);
  switch (m->kind % 6) {
    case 0: MPI_Issend(buffer, bytes, MPI_BYTE, to, m->tag, comm, &p->request); break;
    case 1: MPI_Ibsend(buffer, bytes, MPI_BYTE, to, m->tag, comm, &p->request); break;
    case 2:
      MPI_Send_init(buffer, bytes, MPI_BYTE, to, m->tag, comm, &p->request);
      MPI_Start(&p->request);
      break;
    default: MPI_Isend(buffer, bytes, MPI_BYTE, to, m->tag, comm, &p->request); break;
  }
}

static void received_one(struct posted* p, MPI_Status* status) {
  int was_cancelled = 0;
  MPI_Test_cancelled(status, &was_cancelled);
  cancelled += was_cancelled;
  if (!was_cancelled) take(p->comm, p->buffer, status);
  if (p->request != MPI_REQUEST_NULL) MPI_Request_free(&p->request);
}

/* Tries to complete receives, by one of the calls that do not wait. */
static void poll_receives(unsigned how) {
  MPI_Request requests[2 * most];
  MPI_Status statuses[2 * most];
  int indices[2 * most], count = 0, at[2 * most], done = 0, index = 0;
  for (int i = 0; i < receive_count; ++i)
    if (receives[i].request != MPI_REQUEST_NULL) {
      at[count] = i;
      requests[count++] = receives[i].request;
    }
  if (count == 0) return;
  if (how % 3 == 0) {
    MPI_Testsome(count, requests, &done, indices, statuses);
  } else if (how % 3 == 1) {
    MPI_Testany(count, requests, &index, &done, &statuses[0]);
    if (done) indices[0] = index;
  } else {
    index = (int)(how / 3) % count;
    MPI_Test(&requests[index], &done, &statuses[0]);
    if (done) indices[0] = index;
  }
  for (int i = 0; i < done; ++i) {
    struct posted* p = &receives[at[indices[i]]];
    p->request = requests[indices[i]];
    received_one(p, &statuses[i]);
  }
}

/* Receives a message that no receive waits for, if one has come. */
static void probe_one(int comm, char* buffer, unsigned how) {
  MPI_Status status;
  MPI_Message handle;
  MPI_Request request;
  int found = 0;
  const int tag = how % 2 ? MPI_ANY_TAG : (int)(how / 2 % tags);
  if (how / 8 % 2) {
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_of[comm], &found, &status);
    if (!found) return;
    MPI_Recv(buffer, room, MPI_BYTE, how / 16 % 2 ? MPI_ANY_SOURCE : status.MPI_SOURCE,
             how / 16 % 2 ? tag : status.MPI_TAG, comm_of[comm], &status);
  } else {
    MPI_Improbe(MPI_ANY_SOURCE, tag, comm_of[comm], &found, &handle, &status);
    if (!found) return;
    if (how / 16 % 2) {
      MPI_Mrecv(buffer, room, MPI_BYTE, &handle, &status);
    } else {
      MPI_Imrecv(buffer, room, MPI_BYTE, &handle, &request);
      complete(&request, &status, how / 32);
    }
  }
  take(comm, buffer, &status);
}

static void free_round(char* buffers) {
  struct message list[most];
  int order[2 * most];
  const int count = 4 + (int)draw(most - 4);
  long expected[comms] = {0}, before = received, all = 0;
  for (int i = 0; i < count; ++i) list[i] = draw_message();
  for (int i = 0; i < 2 * count; ++i) {
    const int with = (int)draw((unsigned)i + 1);
    order[i] = order[with];
    order[with] = i;
  }
  receive_count = send_count = 0;
  for (int i = 0; i < 2 * count; ++i) {
    const int is_receive = order[i] >= count;
    const struct message* m = &list[order[i] % count];
    char* buffer = buffers + (long)order[i] * room;
    if (is_receive && m->dest == rank) {
      ++expected[m->comm];
      ++all;
      if (m->how / 288 % 4) post_receive(m, buffer);
    }
    if (!is_receive && m->source == rank) start_send(m, buffer);
  }
  /* From here on each rank draws for itself. */
  const uint64_t common = state;
  state ^= (uint64_t)rank * 77777;
  while (received - before < all) {
    poll_receives(draw(1000));
    const int comm = (int)draw(comms);
    if (received - before < all && expected[comm] > 0) probe_one(comm, buffers + (long)2 * most * room, draw(1000));
  }
  for (int i = 0; i < receive_count; ++i) {
    MPI_Status status;
    if (receives[i].request == MPI_REQUEST_NULL) continue;
    if (!receives[i].was_asked_to_cancel) MPI_Cancel(&receives[i].request);
    complete(&receives[i].request, &status, draw(8));
    received_one(&receives[i], &status);
  }
  check(received - before == all, "more messages than were sent");
  for (int i = 0; i < send_count; ++i) {
    complete(&sends[i].request, MPI_STATUS_IGNORE, 0);
    if (sends[i].request != MPI_REQUEST_NULL) MPI_Request_free(&sends[i].request);
  }
  state = common;
}

static void program(uint64_t seed, char* buffers) {
  state = seed * 0x9e3779b97f4a7c15u;
  MPI_Comm half;
  memset(numbers[of_dup], 0, (comms - 1) * sizeof numbers[0]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[of_dup]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm_of[of_reversed]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &comm_of[of_inter]);
  MPI_Comm_dup(MPI_COMM_SELF, &comm_of[of_self]);
  MPI_Comm_free(&half);
  for (int rounds = 2 + (int)draw(4); rounds > 0; --rounds) {
    if (draw(2))
      ordered_round(buffers, buffers + room);
    else
      free_round(buffers);
    MPI_Barrier(control);
  }
  for (int c = of_dup; c < comms; ++c) MPI_Comm_free(&comm_of[c]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc > 2 && size >= 2 && size <= max_ranks, "usage: patterns FIRST COUNT [MARKS], 2 to 8 ranks");
  const long first = atol(argv[1]), count = atol(argv[2]);
  if (argc > 3) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    marks = fopen(name, "w");
  }
  char* buffers = malloc((size_t)(2 * most + 1) * room);
  const int attached = most * (room + MPI_BSEND_OVERHEAD);
  void* attach = malloc((size_t)attached);
  MPI_Buffer_attach(attach, attached);
  comm_of[of_world] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  for (long i = 0; i < count; ++i) program((uint64_t)(first + i), buffers);
  long mine[5] = {sent, received, cancelled, truncated, unseen}, all[5];
  MPI_Reduce(mine, all, 5, MPI_LONG, MPI_SUM, 0, control);
  if (rank == 0) printf("sent %ld received %ld cancelled %ld truncated %ld unseen %ld\n", all[0], all[1], all[2], all[3], all[4]);
  MPI_Comm_free(&control);
  if (marks != NULL) fclose(marks);
  MPI_Finalize();
  return 0;
}
