// What the numbers of a process's snapshots count, by the definitions in its segment (format/definition.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include "format/definition.h"

namespace tare::tared {

// Reads the definition log of a process as it grows; of one that makes no sense, what comes before that.
class DefinitionLog {
 public:
  // The log is `published` bytes long now, of which those up to the last call's are as they were. Calls
  // take(head, entry) for what is new.
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

// Events of the API by the numbers of their types.
class EventTypes {
 public:
  struct Type {
    format::EventClass event_class;
    std::string identity;  // "region solve", "phase init", "counter residual"
  };

  // An entry of the definition log that is of the kind event_type.
  void take(const char* entry, std::uint32_t bytes);
  // nullptr: it is not defined, or it is none that snapshots have.
  const Type* find(std::uint32_t type) const;

 private:
  std::unordered_map<std::uint32_t, Type> types_;
};

// "MPI_Send"; "other" of calls that found no row of their own.
std::string identity_of_function(unsigned function);

}  // namespace tare::tared
