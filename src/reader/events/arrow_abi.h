// The Arrow C data interface: structs through which tables go to any Arrow implementation without a copy, and without
// this library depending on one. Names and layout are the specification's (arrow.apache.org, "The Arrow C data
// interface" and "The Arrow C stream interface").
#pragma once

#include <cstdint>

#ifndef ARROW_C_DATA_INTERFACE
#  define ARROW_C_DATA_INTERFACE
inline constexpr std::int64_t arrow_flag_nullable = 2;

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif
