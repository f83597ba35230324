// The conditions of a spec that restrict the choice of messages: sizes, functions, communicators, phases, call sites.
#pragma once

#include <cstdint>

#include "mpi/sampling/chooser.h"

namespace tare::mpi::sampling {

// The data of a message that the conditions and the record need.
struct Sent {
  std::uint64_t bytes;
  std::uint32_t site;  // number of the call site
  std::uint16_t function;
  const char* communicator;  // its name
};

class SendFilter {
 public:
  // Whether a call site, by its number, is one that the spec names.
  using IsAt = bool(std::uint64_t number, const Spec& spec) noexcept;
  void set_sites(IsAt* is_at) noexcept { is_at_ = is_at; }

  // To be called when there is another spec.
  void reset() noexcept;

  bool accepts(const Spec& spec, const Sent& sent) noexcept;

 private:
  bool accepts_phase(const Spec& spec) noexcept;
  bool accepts_site(const Spec& spec, std::uint32_t number) noexcept;

  IsAt* is_at_ = nullptr;
  std::uint32_t phase_ = 0;  // number of the phase that the spec names; 0: not known yet
  struct SiteVerdict {
    std::uint32_t number;
    bool accepted;
  };
  static constexpr unsigned verdicts = 1024;
  SiteVerdict verdicts_[verdicts] = {};
};

}  // namespace tare::mpi::sampling
