// Packets and rounds as bytes: written in the byte order of the machine, read as input that may be hostile.
//
// All nodes of a run have one architecture; the head of a packet says which (tared/tree/packet.h). A Reader never reads
// beyond its bytes, and allocates no more than they contain. After the first failure it returns zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tare::format {

using Bytes = std::vector<std::byte>;

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}
  template <class T>
  void put(const T& value) {
    put_all(std::span<const T>(&value, 1));
  }
  template <class T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    if (values.empty()) return;
    const std::size_t at = out_.size();
    out_.resize(at + values.size_bytes());
    std::memcpy(out_.data() + at, values.data(), values.size_bytes());
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put_all(std::span<const T>(values));
  }
  std::size_t size() const { return out_.size(); }
  // Overwrites a value that was put before.
  template <class T>
  void put_at(std::size_t at, const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    std::memcpy(out_.data() + at, &value, sizeof(T));
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_all(std::span<const char>(text));
  }

 private:
  Bytes& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  bool ok() const { return ok_; }
  bool fail() { return ok_ = false; }
  bool at_end() const { return ok_ && in_.empty(); }
  std::size_t left() const { return in_.size(); }
  std::span<const std::byte> rest() const { return in_; }

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const auto bytes = take(sizeof(T)); ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  template <class T>
  bool get_all(std::vector<T>& values, std::uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    values.clear();
    if (!ok_ || count > in_.size() / sizeof(T)) return fail();
    values.resize(count);
    const auto bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return true;
  }
  // The bytes must live as long as what is read.
  std::span<const std::byte> take(std::size_t count) {
    if (!ok_ || count > in_.size()) {
      ok_ = false;
      return {};
    }
    const auto bytes = in_.first(count);
    in_ = in_.subspan(count);
    return bytes;
  }
  // A text in the bytes.
  std::string_view get_view() { return text_of(take(get<std::uint32_t>())); }
  std::string_view rest_text() const { return text_of(in_); }
  std::string get_text(std::size_t most) {
    const auto size = get<std::uint32_t>();
    if (size > most) ok_ = false;
    return std::string(text_of(take(size)));
  }

 private:
  static std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::span<const std::byte> in_;
  bool ok_ = true;
};

}  // namespace tare::format
