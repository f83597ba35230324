#include "mpi/referee/pending.h"

#include <algorithm>

#include "format/mix.h"

namespace tare::mpi::referee {
namespace {

int number_at(std::uintptr_t place) noexcept { return *reinterpret_cast<const int*>(place); }

}  // namespace

std::uint64_t Pending::handle_at(std::uintptr_t requests, int index) const noexcept {
  const std::uintptr_t place = requests + static_cast<std::uintptr_t>(index) * bytes_;
  return bytes_ == 4 ? *reinterpret_cast<const std::uint32_t*>(place) : *reinterpret_cast<const std::uint64_t*>(place);
}

Pending::Persistent* Pending::find_or_add(std::uint64_t handle) noexcept {
  for (std::uint64_t at = format::mix(handle);; ++at) {
    Persistent& each = persistent_[at % persistent_slots];
    if (each.handle == handle) return &each;
    if (each.handle != 0) continue;
    if (persistents_ == persistent_slots / 2) return nullptr;
    ++persistents_;
    each.handle = handle;
    return &each;
  }
}

Pending::Persistent* Pending::find(std::uint64_t handle) noexcept {
  if (persistents_ == 0) return nullptr;
  for (std::uint64_t at = format::mix(handle);; ++at) {
    Persistent& each = persistent_[at % persistent_slots];
    if (each.handle == 0) return nullptr;
    if (each.handle == handle) return each.is_freed ? nullptr : &each;
  }
}

void Pending::begin_persistent(std::uintptr_t requests, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t handle = handle_at(requests, i);
    Persistent* request = find_or_add(handle);
    if (request != nullptr) *request = {handle, true, false};
    ++open_;
  }
}

void Pending::close(long count) noexcept { open_ = std::max(0L, open_ - count); }

void Pending::complete(std::uint64_t handle) noexcept {
  if (handle == null_) return;
  Persistent* request = find(handle);
  if (request != nullptr && !request->is_active) return;
  if (request != nullptr) request->is_active = false;
  close(1);
}

void Pending::completed(std::uint64_t handle) noexcept {
  if (handle == null_)
    close(1);
  else
    complete(handle);
}

void Pending::wait_all(std::uintptr_t requests, int count) noexcept {
  for (int i = 0; i < count; ++i) complete(handle_at(requests, i));
}

void Pending::free(std::uintptr_t request) noexcept {
  const std::uint64_t handle = handle_at(request, 0);
  Persistent* persistent = find(handle);
  if (persistent == nullptr || persistent->is_active) close(1);
  if (persistent != nullptr) persistent->is_freed = true;
}

long Pending::before(Kind kind, const std::uintptr_t (&words)[4]) const noexcept {
  if (kind == Kind::tests_one) return handle_at(words[0], 0) != null_ ? 1 : 0;
  if (kind != Kind::tests_all) return 0;
  long open = 0;
  for (int i = 0; i < static_cast<int>(words[0]); ++i) open += handle_at(words[1], i) != null_ ? 1 : 0;
  return open;
}

void Pending::after(Kind kind, const std::uintptr_t (&words)[4], long before) noexcept {
  const bool is_one = kind == Kind::waits_any || kind == Kind::tests_any;
  if (kind == Kind::tests_one && before != 0 && number_at(words[1]) != 0) completed(handle_at(words[0], 0));
  if (kind == Kind::tests_all && number_at(words[2]) != 0) {
    for (int i = 0; i < static_cast<int>(words[0]); ++i) {
      const std::uint64_t handle = handle_at(words[1], i);
      before -= handle != null_ ? 1 : 0;
      complete(handle);
    }
    close(before);
  }
  if (is_one && (kind == Kind::waits_any || number_at(words[3]) != 0) && number_at(words[2]) >= 0)
    completed(handle_at(words[1], number_at(words[2])));
  if (kind != Kind::waits_some && kind != Kind::tests_some) return;
  for (int i = 0; i < number_at(words[2]); ++i)  // MPI_UNDEFINED is negative
    completed(handle_at(words[1], number_at(words[3] + static_cast<std::uintptr_t>(i) * sizeof(int))));
}

}  // namespace tare::mpi::referee
