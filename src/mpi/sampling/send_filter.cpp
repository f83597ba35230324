#include "mpi/sampling/send_filter.h"

#include <cstring>

#include "recorder/event_types.h"
#include "recorder/here.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {

void SendFilter::reset() noexcept {
  phase_ = 0;
  std::memset(verdicts_, 0, sizeof verdicts_);
}

bool SendFilter::accepts(const Spec& spec, const Sent& sent) noexcept {
  if (sent.bytes < spec.size_from || sent.bytes > spec.size_to) return false;
  if (spec.function != 0 && spec.function != sent.function) return false;
  if (spec.communicator[0] != '\0' && std::strcmp(spec.communicator, sent.communicator) != 0) return false;
  if (spec.phase[0] != '\0' && !accepts_phase(spec)) return false;
  return spec.site_count == 0 || accepts_site(spec, sent.site);
}

bool SendFilter::accepts_phase(const Spec& spec) noexcept {
  if (phase_ == 0) phase_ = recorder::find_phase(spec.phase);
  const recorder::Location* location = recorder::here();
  return phase_ != 0 && location != nullptr && location->phases.is_in(phase_);
}

bool SendFilter::accepts_site(const Spec& spec, std::uint32_t number) noexcept {
  SiteVerdict& verdict = verdicts_[number % verdicts];
  if (verdict.number == number) return verdict.accepted;
  const recorder::ErrnoGuard guard;
  verdict = {number, is_at_ != nullptr && is_at_(number, spec)};
  return verdict.accepted;
}

}  // namespace tare::mpi::sampling
