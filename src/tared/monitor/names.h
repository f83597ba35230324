// The meaning of the numbers in a process's snapshots, from the definitions in its segment (format/definition.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include "format/definition.h"

namespace tare::tared {

// Reads the definition log of a process as it grows, up to the first invalid entry.
class DefinitionLog {
 public:
  // The log now has `published` bytes; those of earlier calls have not changed. Calls take(head, entry) for new
  // entries.
  template <class Take>
  void read(const char* log, std::uint64_t published, Take take) {
    while (!broken_ && published > read_ && published - read_ >= sizeof(format::DefinitionHead)) {
      format::DefinitionHead head;
      std::memcpy(&head, log + read_, sizeof head);
      broken_ = head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > published - read_;
      if (broken_) return;
      take(head, log + read_);
      read_ += head.bytes;
    }
  }

 private:
  std::uint64_t read_ = 0;
  bool broken_ = false;
};

// Events of the API by type number.
class EventTypes {
 public:
  struct Type {
    format::EventClass event_class;
    std::string identity;  // "region solve", "phase init", "counter residual"
    std::string unit;      // of a counter
  };

  // Reads an entry of the kind event_type.
  void take(const char* entry, std::uint32_t bytes);
  // nullptr: not defined, or not of a kind that snapshots contain.
  const Type* find(std::uint32_t type) const;

 private:
  std::unordered_map<std::uint32_t, Type> types_;
};

// "MPI_Send"; "other" for calls for which there was no row.
std::string identity_of_function(unsigned function);

}  // namespace tare::tared
