// leaves: calls of MPI that do not return.
//
// `leaves HOW`: of each of these in turn, the callback makes calls of its own, and leaves as HOW says (throw, jump):
// op (MPI_Reduce_local), handler (MPI_Send that fails), delete (MPI_Comm_delete_attr), copy (MPI_Comm_dup), query
// (MPI_Wait for a generalized request). ROUNDS times; then rank 0 sends SENDS messages to the last rank, from deeper in
// the stack, below a hole that nothing has overwritten, and as many from where it was; then ROUNDS times again.
// `leaves HOW WHAT`: that one alone. Prints "ok". Other ways, which tests/integration/test_leaves.py describes:
// switch, coroutine, abandoned, cancelled, received, ends, stays, finalize.
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace {

constexpr int rounds = 3;
constexpr int sends = 1000;
constexpr std::size_t stack_bytes = 256 * 1024;

enum class How { returns, throws, jumps } how = How::returns;
jmp_buf back;
int rank, ranks;
int left = 0;

void fail(const char* what) {
  std::fprintf(stderr, "leaves: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Calls of MPI inside another one.
void call_nested() {
  int size = 0;
  MPI_Datatype pair;
  MPI_Type_size(MPI_INT, &size);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_free(&pair);
}

void leave() {
  call_nested();
  ++left;
  if (how == How::throws) throw 7;
  if (how == How::jumps) longjmp(back, 1);
}

extern "C" {
void operate(void*, void*, int*, MPI_Datatype*) { leave(); }
void handle(MPI_Comm*, int*, ...) { leave(); }
int copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  leave();
  return MPI_SUCCESS;
}
int destroy(MPI_Comm, int, void*, void*) {
  leave();
  return MPI_SUCCESS;
}
int query(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  leave();
  return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }
}

// Makes a call and comes back from it, however.
template <class Call>
[[gnu::noinline]] void around(Call call) {
  if (setjmp(back) != 0) return;
  try {
    call();
  } catch (int thrown) {
    if (thrown != 7) fail("another exception");
  }
}

// Rank 0 to the last one; alone, to nobody.
[[gnu::noinline]] void send_all() {
  int value = 0;
  for (int i = 0; i < sends; ++i) {
    if (ranks == 1)
      MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    else if (rank == 0)
      MPI_Send(&value, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD);
    else if (rank == ranks - 1)
      MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
[[gnu::noinline]] void send_all_below_a_hole() {
  char hole[64 * 1024];
  __asm__ volatile("" : : "r"(hole) : "memory");
  send_all();
  __asm__ volatile("" : : "r"(hole) : "memory");
}

template <class Call>
void run(Call call) {
  for (int i = 0; i < rounds; ++i) around(call);
  send_all_below_a_hole();
  send_all();
  for (int i = 0; i < rounds; ++i) around(call);
  if (left != 2 * rounds) fail("not all were left");
  how = How::returns;  // from what MPI_Finalize calls back
}

void run_operation() {
  MPI_Op op;
  MPI_Op_create(operate, 1, &op);
  run([&] {
    int in = 1, out = 1;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  });
  MPI_Op_free(&op);
}

void run_handler() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  run([] {
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
  });
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

void run_delete() {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  run([&] { MPI_Comm_delete_attr(MPI_COMM_SELF, key); });
}

void run_copy() {
  int key;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  run([] {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    MPI_Comm_free(&made);
  });
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
}

void run_query() {
  run([] {
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, nullptr, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
  });
}

// ---- other stacks

char* new_stack() {
  void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("no stack");
  return static_cast<char*>(memory);
}

ucontext_t home, away;

void prepare(ucontext_t& context, char* stack, void (*function)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = stack_bytes;
  context.uc_link = &home;
  makecontext(&context, function, 0);
}

// Inside an operation, on a stack of its own.
void nested_away() { call_nested(); }
extern "C" void switch_stack(void*, void*, int*, MPI_Datatype*) {
  static char* stack = new_stack();
  prepare(away, stack, nested_away);
  swapcontext(&home, &away);
  ++left;
}
void run_switch() {
  MPI_Op op;
  MPI_Op_create(switch_stack, 1, &op);
  run([&] {
    int in = 1, out = 1;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  });
  MPI_Op_free(&op);
}

// Calls from a coroutine, some of which are left within it.
void coroutine() {
  for (const How each : {How::jumps, How::throws}) {
    left = 0;
    how = each;
    run_operation();
  }
}
void run_coroutine() {
  char* stack = new_stack();
  prepare(away, stack, coroutine);
  swapcontext(&home, &away);
  munmap(stack, stack_bytes);
}

// A coroutine that is given up inside an operation, and its stack with it.
extern "C" void go_home(void*, void*, int*, MPI_Datatype*) { swapcontext(&away, &home); }
void abandoned() {
  MPI_Op op;
  int in = 1, out = 1;
  MPI_Op_create(go_home, 1, &op);
  MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
}
void run_abandoned() {
  char* stack = new_stack();
  prepare(away, stack, abandoned);
  swapcontext(&home, &away);
  munmap(stack, stack_bytes);
  send_all_below_a_hole();
}

// ---- threads that are cancelled inside MPI

int cleaned = 0;
volatile bool inside = false;
MPI_Comm alone;  // on which an unfinished receive is in nobody's way

void clean(void*) { ++cleaned; }

void* receive(void*) {
  static int value;
  pthread_cleanup_push(clean, nullptr);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  inside = true;
  MPI_Recv(&value, 1, MPI_INT, 0, 42, alone, MPI_STATUS_IGNORE);
  pthread_cleanup_pop(0);
  return nullptr;
}
// Whoever waits in MPI does so busily: what a thread has used of the processor says that it is there.
void wait_until_busy(pthread_t thread) {
  clockid_t clock;
  timespec first{}, now{};
  while (!inside) usleep(100);
  pthread_getcpuclockid(thread, &clock);
  clock_gettime(clock, &first);
  do {
    usleep(1000);
    clock_gettime(clock, &now);
  } while ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < 20);
}
extern "C" void wait_to_be_cancelled(void*, void*, int*, MPI_Datatype*) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  inside = true;
  for (;;) __asm__ volatile("" : : : "memory");
}
void* operate_for_ever(void*) {
  MPI_Op op;
  int in = 1, out = 1;
  pthread_cleanup_push(clean, nullptr);
  MPI_Op_create(wait_to_be_cancelled, 1, &op);
  MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  pthread_cleanup_pop(0);
  return nullptr;
}
// The last of so many threads is cancelled, as those before it.
void cancel_threads(int count, void* (*function)(void*)) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    void* result = nullptr;
    inside = false;
    if (pthread_create(&thread, nullptr, function, nullptr) != 0) fail("no thread");
    wait_until_busy(thread);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) fail("not cancelled");
  }
  if (cleaned != count) fail("not cleaned up");
}
void run_cancelled() {
  cancel_threads(rounds, operate_for_ever);
  send_all();
}
// What MPI then says to further calls is undefined.
void run_received() {
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  cancel_threads(1, receive);
  std::printf("ok\n");
  std::fflush(stdout);
  _exit(0);
}

// ---- what comes after it

// Nothing but the end, without MPI_Finalize.
void run_ends() {
  MPI_Op op;
  MPI_Op_create(operate, 1, &op);
  around([&] {
    int in = 1, out = 1;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  });
  std::printf("ok\n");
  std::exit(0);
}
// Nothing for long.
void run_stays() {
  MPI_Op op;
  MPI_Op_create(operate, 1, &op);
  around([&] {
    int in = 1, out = 1;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
  });
  for (;;) pause();
}

// MPI_Finalize itself.
void run_finalize() {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, destroy, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  around([] { MPI_Finalize(); });
  if (left == 1) std::printf("left\n");
  std::exit(0);
}

bool is(const char* word, const char* other) { return std::strcmp(word, other) == 0; }

struct Callback {
  const char* name;
  void (*run)();
};
constexpr Callback callbacks[] = {{"op", run_operation},
                                  {"handler", run_handler},
                                  {"delete", run_delete},
                                  {"copy", run_copy},
                                  {"query", run_query}};
constexpr Callback others[] = {{"switch", run_switch},       {"coroutine", run_coroutine}, {"abandoned", run_abandoned},
                               {"cancelled", run_cancelled}, {"received", run_received},   {"ends", run_ends},
                               {"stays", run_stays},
                               {"finalize", run_finalize}};

void run_callbacks(How way, const char* what) {
  for (const Callback& each : callbacks) {
    if (*what != '\0' && !is(what, each.name)) continue;
    how = way;
    left = 0;
    each.run();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  const char* what = argc > 2 ? argv[2] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is(way, "throw")) run_callbacks(How::throws, what);
  if (is(way, "jump")) run_callbacks(How::jumps, what);
  for (const Callback& each : others) {
    if (!is(way, each.name)) continue;
    how = is(what, "throw") ? How::throws : How::jumps;
    each.run();
  }
  if (rank == 0) std::printf("ok\n");
  MPI_Finalize();
  return 0;
}
