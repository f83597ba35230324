// Roles of calls that cancel or free requests, if messages are sampled.
#pragma once

#include "mpi/roles/completion.h"
#include "mpi/roles/sampled_communicator.h"
#include "mpi/sampling/persistents.h"

namespace tare::mpi {

// The sampler's word for the receive that is under way with a request; 0 if there is none.
inline std::uint32_t* receive_of(Request& entry) noexcept {
  if ((entry.message & sampling::persistent_bit) == 0) return &entry.message;
  sampling::Persistent& p = sampling::persistents[entry.message];
  return p.receives ? &p.receive : nullptr;
}

// MPI_Cancel.
template <class A>
struct SamplesCancel : Role {
  const typename A::Request* request;
  explicit SamplesCancel(const typename A::Request* r) noexcept : request(r) {}

  void before(Thread&, recorder::Call&) noexcept {
    if (!sampler.active() || request == nullptr || *request == A::request_null()) return;
    // From now on, it is not certain which message a receive takes.
    if (!sampler.shared())
      requests.for_each([](Request& each) {
        if (std::uint32_t* receive = receive_of(each)) *receive = kept(each, *receive);
      });
    const Request entry = requests.find(bits(*request));
    if (entry.handle != 0 && entry.receives() && entry.message == 0) return;
    const bool persistent = (entry.message & sampling::persistent_bit) != 0;
    if (entry.message == 0 || (persistent && !sampling::persistents[entry.message].receives))
      sampler.cancelling_send();  // assumed, because the request is not known
    else
      sampler.cancel_requested(persistent ? sampling::persistents[entry.message].receive : entry.message);
  }
};

// MPI_Request_free. Comes before the role that removes the request from the table.
template <class A>
struct SamplesFree : Role {
  const typename A::Request* request;
  explicit SamplesFree(const typename A::Request* r) noexcept : request(r) {}

  void before(Thread&, recorder::Call&) noexcept {
    if (!sampler.active() || request == nullptr || *request == A::request_null()) return;
    const Request entry = requests.find(bits(*request));
    if (entry.message == 0) return;
    if ((entry.message & sampling::persistent_bit) == 0) return sampler.drop(kept(entry, entry.message));
    sampling::Persistent& p = sampling::persistents[entry.message];
    if (p.receives && entry.active) sampler.drop(kept(entry, p.receive));
    sampling::persistents.remove(entry.message);
  }
};

}  // namespace tare::mpi
