// Roles of calls that start requests. completion.h has those of calls that complete them.
#pragma once

#include <cstring>

#include "mpi/objects/requests.h"
#include "mpi/roles/envelope.h"
#include "mpi/sampling/persistents.h"
#include "recorder/locations.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::mpi {

// The bytes that were received, according to a status.
template <class A>
std::uint64_t received_bytes(const typename A::Status& status) noexcept {
  if constexpr (A::has_byte_count) {
    return static_cast<std::uint64_t>(A::byte_count(status));
  } else {
    using Query = int(const typename A::Status*, typename A::Datatype, typename A::Count*);
    typename A::Count count = 0;
    library<Query>(Function::MPI_Get_elements_x)(&status, A::datatype_byte(), &count);
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
  }
}

template <class A>
bool was_cancelled(const typename A::Status& status) noexcept {
  if constexpr (A::has_cancelled) {
    return A::cancelled(status);
  } else {
    int cancelled = 0;
    library<int(const typename A::Status*, int*)>(Function::MPI_Test_cancelled)(&status, &cancelled);
    return cancelled != 0;
  }
}

// Sets source and tag of a message that was too long for its receive, where this is from any source or with any tag.
// MPI leaves it open whether the status has them.
template <class A>
[[gnu::cold]] void set_envelope_of_truncated(const typename A::Status& status, std::int32_t& source,
                                             std::int32_t& tag) noexcept {
  const std::int32_t of_source = A::source(status), of_tag = A::tag(status);
  if (source == format::any_source && of_source >= 0) source = of_source;
  if (tag == format::any_tag && of_tag >= 0) tag = of_tag;
}

// A blocking receive. Its status says what was received; the program may not have asked for a status.
template <class A>
struct Receives : Describes {
  static constexpr unsigned traffic = recorder::receives;
  using Status = typename A::Status;
  Status* asked;
  Status own;
  explicit Receives(void* status) noexcept : asked(static_cast<Status*>(status)) {}

  auto* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) [[unlikely]]
      return failed(call, result, *status());
    const Status& s = *status();
    call.peer = Peer<A>::normal(A::source(s));
    call.tag = Tag<A>::normal(A::tag(s));
    call.bytes = received_bytes<A>(s);
  }

 private:
  [[gnu::noinline, gnu::cold]] static void failed(recorder::Call& call, int result, const Status& status) noexcept {
    if (was_truncated<A>(result)) return set_envelope_of_truncated<A>(status, call.peer, call.tag);
    call.peer = format::no_peer;  // it has taken no message
    call.tag = format::no_tag;
  }
};

// The receive of a blocking call that sends and receives.
template <class A>
struct AlsoReceives : Receives<A> {
  static constexpr unsigned traffic = recorder::exchanges;
  std::int32_t source, tag;
  AlsoReceives(int s, int t, void* status) noexcept
      : Receives<A>(status), source(Peer<A>::normal(s)), tag(Tag<A>::normal(t)) {}

  void before(Thread& thread, recorder::Call&) noexcept {
    // Stored one by one: a later read of both as one word would wait until all earlier stores are done.
    format::CurrentCall& current = thread.shared().current;
    std::atomic_ref(current.source).store(source, std::memory_order_relaxed);
    std::atomic_ref(current.source_tag).store(tag, std::memory_order_relaxed);
  }
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    format::CurrentCall& current = thread.shared().current;
    current.source = format::no_peer;
    current.source_tag = format::no_tag;
    if (result != A::success) [[unlikely]] {
      if (!was_truncated<A>(result)) return;
      call.source = source;
      call.source_tag = tag;
      return set_envelope_of_truncated<A>(*this->status(), call.source, call.source_tag);
    }
    const typename A::Status& s = *this->status();
    call.source = Peer<A>::normal(A::source(s));
    call.source_tag = Tag<A>::normal(A::tag(s));
    call.received = received_bytes<A>(s);
  }
};

// The receive of MPI_Isendrecv. The status of the request may not say what was received.
template <class A>
struct ReceivesLater : Describes {
  static constexpr unsigned traffic = recorder::exchanges;
  std::int32_t source, tag;
  ReceivesLater(int s, int t) noexcept : source(Peer<A>::normal(s)), tag(Tag<A>::normal(t)) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) return;
    call.source = source;
    call.source_tag = tag;
  }
};

// A probe: describes a message and moves none.
template <class A>
struct Probes : Receives<A> {
  static constexpr unsigned traffic = recorder::no_traffic;
  const int* flag;
  Probes(const int* f, void* status) noexcept : Receives<A>(status), flag(f) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success || (flag != nullptr && *flag == 0)) return;
    call.peer = Peer<A>::normal(A::source(*this->status()));
    call.tag = Tag<A>::normal(A::tag(*this->status()));
  }
};

// A call that sends, or puts into a window.
struct Sends : Describes {
  static constexpr unsigned traffic = recorder::sends;
};

// A call that gets from a window.
struct Fetches : Describes {
  static constexpr unsigned traffic = recorder::receives;
};

[[gnu::cold]] inline void count_untracked(std::uint32_t count) noexcept {
  if (auto* segment = recorder::segment())
    std::atomic_ref(segment->process.untracked_requests).fetch_add(count, std::memory_order_relaxed);
}

// The Starter for a call with this row that starts requests of a kind.
inline Starter starter_of(const Thread& thread, const format::ProfileRow& row, unsigned kind) noexcept {
  if (thread.mode == recorder::Mode::paused) [[unlikely]]
    return {Starter::no_block, 0, static_cast<std::uint8_t>(kind | format::unrecorded_request)};
  return {thread.block, static_cast<std::uint16_t>(&row - thread.profile.rows), static_cast<std::uint8_t>(kind)};
}

// Stores in the entry of a request which call has started it.
inline void start(Request& entry, const recorder::Call& call, const format::ProfileRow& row) noexcept {
  entry.started = call.enter;
  entry.site = row.site;
  entry.function = call.function;
  entry.active = true;
}

// A call that creates a request. `what` is made of format::RequestKind.
template <class A, unsigned what>
struct Starts : Role {
  static constexpr bool is_silent = (what & format::exchange_request) != 0 && !A::isendrecv_fills_status;
  static constexpr unsigned kind = is_silent ? unsigned{format::exchange_request} : what;
  static constexpr bool is_persistent = (kind & format::persistent_request) != 0;
  // What a collective takes out beside its bytes is known here; for other calls, elsewhere.
  static constexpr bool is_collective = kind == format::persistent_request;
  const typename A::Request* request;
  std::uint64_t bytes = 0;
  std::uint64_t received = format::no_bytes;  // of persistent collectives
  bool made = false;                          // the call has made a request
  // The entry of the request, if it is recorded and has a peer. Needs no memory unless another role reads it.
  Request* entry = nullptr;
  explicit Starts(const typename A::Request* r) noexcept : request(r) {}

  // A persistent request is started later.
  static bool is_needed(const Thread& thread) noexcept { return is_persistent || thread.requests_open; }

  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (recorder::seldom(result != A::success) || recorder::seldom(*request == A::request_null())) return;
    made = true;
    if (thread.traced()) call.request = fold(bits(*request));
    bytes = call.bytes == format::no_bytes ? 0 : call.bytes;
    if constexpr (is_collective) received = std::exchange(call.received, format::no_bytes);
    if constexpr (is_persistent) call.bytes = format::no_bytes;  // moves nothing yet
  }
  [[gnu::always_inline]] void committed(Thread& thread, const recorder::Call& call, format::ProfileRow& row,
                                        int) noexcept {
    if (recorder::seldom(!made)) return;
    unsigned started = kind;
    // A receive from MPI_PROC_NULL is complete at once, so it may share its handle with others that are.
    if constexpr (!is_persistent && (kind & format::exchange_request) == 0)
      if (call.peer == format::proc_null) started = format::plain_request;
    const Starter starter = starter_of(thread, row, started);
    const bool fits = requests.put(
        bits(*request), starter, [&](Request & put) __attribute__((always_inline)) {
          put.bytes = bytes;
          put.communicator = call.communicator;
          put.peer = call.peer;
          put.tag = call.tag;
          put.waiter = 0;
          put.message = 0;
          start(put, call, row);
          put.active = !is_persistent;
          if constexpr (is_collective) requests.received(put) = received;
          if (is_persistent || starter.kind == kind) entry = &put;
        });
    if (!fits) [[unlikely]]
      count_untracked(1);
  }
};

// MPI_Start, MPI_Startall. If it starts one request, the call is described like it. If it starts several, each gets a
// record after the call.
template <class A>
struct StartsPersistent : Role {
  static constexpr unsigned traffic = recorder::exchanges;
  int count;
  typename A::Request* handles;
  StartsPersistent(int n, typename A::Request* h) noexcept : count(n), handles(h) {}
  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) return;
    for (int i = 0; i < count; ++i) {
      recorder::Call started;
      requests.change(bits(handles[i]), [&](const Request& entry) { describe(entry, started); });
      add(started.bytes, call.bytes);
      add(started.received, call.received);
      if (count != 1) continue;
      call.request = fold(bits(handles[0]));
      call.peer = started.peer;
      call.tag = started.tag;
      call.communicator = started.communicator;
    }
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow& row, int result) noexcept {
    if (result != A::success) return;
    for (int i = 0; i < count; ++i) {
      recorder::Call started;
      started.request = fold(bits(handles[i]));
      requests.change(bits(handles[i]), [&](Request& entry) {
        if (!entry.persistent()) return;  // not that which is started: it found no room
        const Starter starter = starter_of(thread, row, entry.kind & ~unsigned{format::unrecorded_request});
        entry.block = starter.block;
        entry.row = starter.row;
        entry.kind = starter.kind;
        start(entry, call, row);
        if (entry.sends() && call.bytes != format::no_bytes)
          thread.peers().count_sent(entry.communicator, entry.peer, entry.bytes);
        describe(entry, started);
      });
      if (count > 1) recorder::commit_start(thread, started);
    }
  }
  // What starting an entry means.
  static void describe(const Request& entry, recorder::Call& started) noexcept {
    if (!entry.persistent()) return;
    started.communicator = entry.communicator;
    if (!entry.receives()) started.bytes = entry.bytes;
    if ((entry.kind & ~unsigned{format::unrecorded_request}) == format::persistent_request) {  // a collective
      started.received = requests.received(entry);
      return;
    }
    // Messages in parts are not those of other sends and receives (MPI 5.0, chapter 4), and the trace does not say when
    // each part is ready, so readers match none of them.
    if ((entry.kind & format::partitioned_request) != 0) return;
    started.peer = entry.peer;
    started.tag = entry.tag;
  }
  static void add(std::uint64_t bytes, std::uint64_t& sum) noexcept {
    if (bytes != format::no_bytes) sum = bytes + (sum == format::no_bytes ? 0 : sum);
  }
};

template <class A>
struct FreesRequest : Role {
  std::uint64_t handle;
  explicit FreesRequest(const typename A::Request* request) noexcept
      : handle(request == nullptr ? 0 : bits(*request)) {}
  void before(Thread& thread, recorder::Call&) noexcept { requests.free(handle, thread.block); }
};

}  // namespace tare::mpi
