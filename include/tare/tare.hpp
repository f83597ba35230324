// tare's recorder for C++17: tare.h with types. Header-only; each call is the C function and nothing else.
//
//   tare::region solve{"solve"};               // once, for instance as a static
//   tare::event<int, double> step{"step"};
//
//   auto span = solve.enter();                 // left at the end of the scope
//   step(17, 0.5);
//
// Nothing here throws. Objects are numbers: copy them freely, use them from any thread.
#ifndef TARE_TARE_HPP
#define TARE_TARE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "tare/tare.h"

namespace tare {

namespace detail {

template <class T, bool = std::is_enum_v<T>>
struct plain {
  using type = T;
};
template <class T>
struct plain<T, true> : std::underlying_type<T> {};

// What a parameter is stored as: an enumeration as its integer.
template <class T>
using plain_t = typename plain<std::remove_cv_t<T>>::type;

template <class T>
inline constexpr bool is_parameter = (std::is_integral_v<plain_t<T>> && sizeof(T) <= 8) ||
                                     std::is_same_v<plain_t<T>, float> || std::is_same_v<plain_t<T>, double>;

// The letter of tare_define_event.
template <class T>
constexpr char letter() noexcept {
  using P = plain_t<T>;
  if constexpr (std::is_same_v<P, float>) {
    return 'f';
  } else if constexpr (std::is_same_v<P, double>) {
    return 'd';
  } else {
    constexpr char letters[2][9] = {".BH.I...", ".bh.i..."};
    return sizeof(P) == 8 ? (std::is_signed_v<P> ? 'q' : 'Q') : letters[std::is_signed_v<P>][sizeof(P)];
  }
}

template <class... Parameters>
inline constexpr char letters[sizeof...(Parameters) + 1] = {letter<Parameters>()..., '\0'};

template <class T>
std::uint64_t word(T value) noexcept {
  using P = plain_t<T>;
  if constexpr (std::is_same_v<P, float>) {
    return tare_word_of_float(value);
  } else if constexpr (std::is_same_v<P, double>) {
    return tare_word_of_double(value);
  } else if constexpr (std::is_signed_v<P>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class... Words>
void record(tare_id event, Words... words) noexcept {
  constexpr std::size_t count = sizeof...(Words);
  if constexpr (count == 0) {
    tare_record0(event);
  } else if constexpr (count == 1) {
    tare_record1(event, words...);
  } else if constexpr (count == 2) {
    tare_record2(event, words...);
  } else if constexpr (count == 3) {
    tare_record3(event, words...);
  } else if constexpr (count == 4) {
    tare_record4(event, words...);
  } else {
    const std::uint64_t all[] = {words...};
    tare_record(event, all, static_cast<unsigned>(count));
  }
}

}  // namespace detail

// Changes which messages are sampled (tare_sample).
inline bool sample(const char* spec) noexcept { return tare_sample(spec) == 0; }

// From here on nothing of this thread is recorded; or it is recorded again (tare_pause, tare_resume).
inline void pause() noexcept { tare_pause(); }
inline void resume() noexcept { tare_resume(); }

// Writes what this thread has recorded of the trace (tare_flush).
inline void flush() noexcept { tare_flush(); }
// The program has completed an iteration, for `tare run --weigh` and `--budget` (tare_progress).
inline void progress() noexcept { tare_progress(); }

// The profile may be handed to the monitor here (tare_offload).
inline void offload() noexcept { tare_offload(); }
// What is known about the monitoring tree for profiles of so many events; 0: of as many as the program's have. Times
// are seconds; negative ones are not known (tare_find_sweet_spot).
inline tare_sweet_spot sweet_spot(std::uint32_t events = 0) noexcept {
  tare_sweet_spot found;
  tare_find_sweet_spot(events, &found);
  return found;
}

// The next message that a user has sent to this rank; nothing if there is none (tare_control).
inline std::optional<tare_control_message> control() noexcept {
  tare_control_message message;
  if (tare_control(&message) == 0) return std::nullopt;
  return message;
}

// Begins a run in a new directory; nullptr: <program>-<time>. False if it cannot be made; errno says why.
inline bool start(const char* run_directory = nullptr) noexcept { return tare_start(run_directory) == 0; }

// Whether events are recorded (tare_recording).
inline bool recording() noexcept { return tare_recording() != 0; }

// A span of the program.
class region {
 public:
  explicit region(const char* name) noexcept : id_(tare_define_region(name)) {}

  // Leaves the region when it goes out of scope, in the thread that entered it.
  class [[nodiscard]] span {
   public:
    explicit span(tare_id id) noexcept : id_(id) { tare_enter(id_); }
    ~span() { tare_leave(id_); }
    span(const span&) = delete;
    span& operator=(const span&) = delete;

   private:
    tare_id id_;
  };

  span enter() const noexcept { return span{id_}; }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// A stretch of the whole run.
class phase {
 public:
  explicit phase(const char* name) noexcept : id_(tare_define_phase(name)) {}

  // Ends the phase when it goes out of scope, in the thread that began it.
  class [[nodiscard]] span {
   public:
    explicit span(tare_id id) noexcept : id_(id) { tare_begin_phase(id_); }
    ~span() { tare_end_phase(id_); }
    span(const span&) = delete;
    span& operator=(const span&) = delete;

   private:
    tare_id id_;
  };

  span begin() const noexcept { return span{id_}; }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// A value over time.
class counter {
 public:
  explicit counter(const char* name, const char* unit = nullptr) noexcept : id_(tare_define_counter(name, unit)) {}
  void operator()(double value) const noexcept { tare_count(id_, value); }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// A point in time.
class marker {
 public:
  explicit marker(const char* name) noexcept : id_(tare_define_marker(name)) {}
  void operator()() const noexcept { tare_mark(id_); }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// An event with typed parameters.
template <class... Parameters>
class event {
  static_assert(sizeof...(Parameters) <= TARE_MAX_PARAMETERS, "an event has at most 10 parameters");
  static_assert((detail::is_parameter<Parameters> && ...),
                "a parameter is an integer of 1 to 8 bytes, an enumeration, a float or a double");

 public:
  explicit event(const char* name) noexcept : id_(tare_define_event(name, detail::letters<Parameters...>)) {}
  void operator()(Parameters... values) const noexcept { detail::record(id_, detail::word(values)...); }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// An event with unsigned parameters that take the bytes they need; each call may have another number of them.
class packed {
 public:
  explicit packed(const char* name) noexcept : id_(tare_define_packed(name)) {}
  template <class... Parameters>
  void operator()(Parameters... values) const noexcept {
    static_assert(sizeof...(Parameters) <= TARE_MAX_PARAMETERS, "an event has at most 10 parameters");
    static_assert(((detail::is_parameter<Parameters> && std::is_integral_v<detail::plain_t<Parameters>>)&&...),
                  "a packed parameter is an integer or an enumeration");
    detail::record(id_, detail::word(values)...);
  }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

// An event of text or bytes, cut at TARE_MAX_RAW_BYTES.
class raw {
 public:
  explicit raw(const char* name) noexcept : id_(tare_define_raw(name)) {}
  void operator()(std::string_view text) const noexcept { tare_record_raw(id_, text.data(), text.size()); }
  void operator()(const void* data, std::size_t bytes) const noexcept { tare_record_raw(id_, data, bytes); }
  tare_id id() const noexcept { return id_; }

 private:
  tare_id id_;
};

}  // namespace tare

#endif
