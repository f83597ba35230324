// What the drivers of all recorders have in common: the same events, in the same loops.
//
//   DRIVER cost THREADS EVENTS BUFFER PATH     prints {"event_ns", "clock_ns"}: the processor's time for one event of
//                                              four ints, and for reading its clock once
//   DRIVER table PARAMETERS char|int|double loop|random BUFFER PATH
//                                              records a million events, as LiTL's Table I
//
// BUFFER is in bytes, of a thread where the recorder has one a thread; PATH a file or directory to be made.
#pragma once

#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

inline constexpr unsigned table_events = 1'000'000;
inline constexpr unsigned table_parameters = 6;

struct Arguments {
  bool table = false;
  int threads = 1;
  long events = table_events;
  unsigned parameters = 0;
  std::string type;
  bool random = false;
  std::uint64_t buffer = 0;
  std::string path;

  Arguments(int argc, char** argv) {
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 6 && words[1] == "cost") {
      threads = std::stoi(words[2]);
      events = std::stol(words[3]);
    } else if (argc == 7 && words[1] == "table") {
      table = true;
      parameters = static_cast<unsigned>(std::stoul(words[2]));
      type = words[3];
      random = words[4] == "random";
    } else {
      std::fprintf(stderr, "%s: see bench/recorders/events.h\n", argv[0]);
      std::exit(2);
    }
    buffer = std::stoull(words[words.size() - 2]);
    path = words.back();
  }
};

// Parameters that follow the loop counter, or random ones of the whole width.
template <class T>
class Values {
 public:
  explicit Values(bool random) : random_(random) {}
  T operator()(unsigned i, unsigned p) {
    if (!random_) return static_cast<T>(i + p);
    const std::uint64_t bits = generator_();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

 private:
  bool random_;
  std::mt19937_64 generator_{1};
};

// Calls `record(values, count)` for each event of the table.
template <class T, class Record>
void fill_table(const Arguments& arguments, Record record) {
  Values<T> values(arguments.random);
  for (unsigned i = 0; i < table_events; ++i) {
    T v[table_parameters] = {};
    for (unsigned p = 0; p < arguments.parameters; ++p) v[p] = values(i, p);
    record(v, arguments.parameters);
  }
}
template <class Record>
void fill_table_of_type(const Arguments& arguments, Record record) {
  if (arguments.type == "char") fill_table<signed char>(arguments, record);
  if (arguments.type == "int") fill_table<int>(arguments, record);
  if (arguments.type == "double") fill_table<double>(arguments, record);
}

inline double cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

// Reading the processor's counter once: the least of several batches.
inline double clock_ns() {
  constexpr int reads = 200'000;
  double best = 1e9;
  for (int batch = 0; batch < 5; ++batch) {
    const double before = cpu_ns();
    std::uint64_t sum = 0;
    for (int i = 0; i < reads; ++i) sum += __rdtsc();
    asm volatile("" ::"r"(sum));
    best = std::min(best, (cpu_ns() - before) / reads);
  }
  return best;
}

// Runs `record(i)` in threads and prints the processor's time for one. The first event of a thread, which gets it
// its buffer, and the end of the thread are not in it.
template <class Record>
void print_cost(const Arguments& arguments, Record record) {
  std::vector<double> spent(static_cast<std::size_t>(arguments.threads));
  std::vector<std::thread> all;
  for (double& ns : spent)
    all.emplace_back([&ns, &arguments, record] {
      record(0);
      const double before = cpu_ns();
      for (long i = 0; i < arguments.events; ++i) record(static_cast<int>(i));
      ns = cpu_ns() - before;
    });
  for (std::thread& thread : all) thread.join();
  double sum = 0;
  for (const double ns : spent) sum += ns;
  std::printf("{\"event_ns\": %.3f, \"clock_ns\": %.3f}\n",
              sum / static_cast<double>(arguments.events) / arguments.threads, clock_ns());
}
