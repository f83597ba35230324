// Encoders of event chunks, shared by the threads of a process. One takes too much memory for each thread to have its
// own.
#pragma once

#include "format/event_codec.h"

namespace tare::recorder {

// Holds one of the encoders of this process while a thread drains. There are as many as threads drain at the same time.
// Thread-safe.
class BorrowedEncoder {
 public:
  BorrowedEncoder() noexcept;
  ~BorrowedEncoder();
  BorrowedEncoder(const BorrowedEncoder&) = delete;
  BorrowedEncoder& operator=(const BorrowedEncoder&) = delete;
  // False if there is no memory for an encoder.
  explicit operator bool() const noexcept { return entry_ != nullptr; }
  format::EventEncoder* operator->() const noexcept;

  struct Entry;

 private:
  Entry* entry_;
};

// For a forked child: no thread holds an encoder.
void release_encoders() noexcept;

}  // namespace tare::recorder
