// What the numbers of a process's snapshots count, by the definitions in its segment (format/definition.h).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "format/definition.h"

namespace tare::tared {

// Events of the API by the numbers of their types. Takes the definition log as it grows; of one that makes no sense it
// takes what comes before that.
class EventTypes {
 public:
  struct Type {
    format::EventClass event_class;
    std::string identity;  // "region solve", "phase init", "counter residual"
  };

  // The log is `published` bytes long now, of which those up to the last call's are as they were.
  void read(const char* log, std::uint64_t published);
  // nullptr: it is not defined, or it is none that snapshots have.
  const Type* find(std::uint32_t type) const;

 private:
  void take(const char* entry, std::uint32_t bytes);

  std::uint64_t read_ = 0;
  bool broken_ = false;
  std::unordered_map<std::uint32_t, Type> types_;
};

// "MPI_Send"; "other" of calls that found no row of their own.
std::string identity_of_function(unsigned function);

}  // namespace tare::tared
