// Encoders of event chunks, which the threads of a process share: one takes too much memory for each to have its own.
#pragma once

#include "format/event_codec.h"

namespace tare::recorder {

// One of a few encoders that the threads of this process share: as many as drain at the same time. Thread-safe.
class BorrowedEncoder {
 public:
  BorrowedEncoder() noexcept;
  ~BorrowedEncoder();
  BorrowedEncoder(const BorrowedEncoder&) = delete;
  BorrowedEncoder& operator=(const BorrowedEncoder&) = delete;
  // False if there is no memory for one.
  explicit operator bool() const noexcept { return entry_ != nullptr; }
  format::EventEncoder* operator->() const noexcept;

  struct Entry;

 private:
  Entry* entry_;
};

// In a forked child: nobody holds an encoder.
void release_encoders() noexcept;

}  // namespace tare::recorder
