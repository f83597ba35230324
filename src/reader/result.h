// The error handling of the reader: it returns errors and throws no exceptions of its own. A message is one line that
// says what failed and, if possible, what to do about it.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tare::reader {

struct Failure {
  std::string message;
};

// A value or a failure. The value may only be accessed if the result is true.
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
