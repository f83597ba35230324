#include "recorder/borrowed_encoder.h"

#include <cstddef>
#include <new>

#include "recorder/system.h"

namespace tare::recorder {

struct BorrowedEncoder::Entry {
  Entry* next;
  format::EventEncoder encoder;
};

namespace {

constinit BorrowedEncoder::Entry* idle_encoders = nullptr;
constinit SpinLock encoders_lock;

constexpr std::size_t entry_bytes = (sizeof(BorrowedEncoder::Entry) + 63) / 64 * 64;

BorrowedEncoder::Entry* new_encoder() noexcept {
  auto* memory = static_cast<char*>(map_memory(entry_bytes + format::EventEncoder::workspace_bytes()));
  if (memory == nullptr) return nullptr;
  return new (memory)
      BorrowedEncoder::Entry{nullptr, format::EventEncoder(memory + entry_bytes, format::EventEncoder::Memory::zeroed)};
}

}  // namespace

BorrowedEncoder::BorrowedEncoder() noexcept {
  encoders_lock.lock();
  entry_ = idle_encoders;
  if (entry_ != nullptr) idle_encoders = entry_->next;
  encoders_lock.unlock();
  if (entry_ == nullptr) entry_ = new_encoder();
}

BorrowedEncoder::~BorrowedEncoder() {
  if (entry_ == nullptr) return;
  encoders_lock.lock();
  entry_->next = idle_encoders;
  idle_encoders = entry_;
  encoders_lock.unlock();
}

format::EventEncoder* BorrowedEncoder::operator->() const noexcept { return &entry_->encoder; }

void release_encoders() noexcept {
  encoders_lock.reset();
  idle_encoders = nullptr;  // an interrupted thread may have left the list inconsistent
}

}  // namespace tare::recorder
