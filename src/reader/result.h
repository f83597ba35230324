// Status with a message: the reader throws nothing of its own. A message is one line that says what failed
// and, where there is something to do, what to do.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tare::reader {

struct Failure {
  std::string message;
};

// A value or a failure; the value may be taken only if the result is true.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Failure failure) : message_(std::move(failure.message)) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const std::string& error() const { return message_; }
  Failure failure() const { return Failure{message_}; }

 private:
  std::optional<T> value_;
  std::string message_;
};

}  // namespace tare::reader
