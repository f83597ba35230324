// The columns of the table of events, and the texts to which they refer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/run/run.h"

namespace tare::reader {

// Named like the keys in docs/json.md, in the order of the table. Those from first_of_signature to last_of_signature
// are 32-bit numbers that are the same for all calls of a signature.
enum class EventColumn : std::uint8_t {
  start_ns,
  duration_ns,
  world,
  rank,
  thread,
  thread_name,
  function,
  first_of_signature = function,
  site,
  caller,
  file,
  line,
  communicator,
  communicator_key,
  window,
  window_key,
  mpi_file,
  mpi_file_key,
  peer,
  peer_world,
  root,
  tag,
  source,
  source_world,
  source_tag,
  last_of_signature = source_tag,
  bytes,
  received,
  request,
  starter,
  requests,
  records,
  kind,
  name,
  begin,
  value,
  unit,
  parameters,
  words,
  text,
};
inline constexpr std::size_t event_column_count = 38;

// By EventColumn.
std::vector<std::string> event_column_names();

// Stands for null in columns of 32-bit numbers until they are exported.
inline constexpr std::int32_t absent = INT32_MIN;

// The number in `keys` of the key of a communicator, window or file, as text; `absent` if the key is not known.
std::int32_t key_number(arrow::Dictionary& keys, std::uint64_t key);

// The dictionaries of the table, and their indices for each site, communicator and so on of the run.
class EventTexts {
 public:
  // `with_sites`: whether the lines of call sites are wanted. Finding them takes time.
  EventTexts(Run& run, bool with_sites);

  struct Site {
    std::int32_t caller, file, line;
  };
  struct Communicator {
    std::int32_t name, key;
  };
  struct Scope {
    bool is_file;
    std::int32_t name, key;
  };
  struct Type {  // of events
    std::int32_t name, unit;
  };

  // `number`: an index in the table of the run; for -1, all texts are absent.
  const Site& site(std::int32_t number) const {
    return number < 0 || sites_.empty() ? no_site_ : sites_[static_cast<std::size_t>(number)];
  }
  const Communicator& communicator(std::int32_t number) const {
    return number < 0 ? no_communicator_ : communicators_[static_cast<std::size_t>(number)];
  }
  const Scope& scope(std::int32_t number) const {
    return number < 0 ? no_scope_ : scopes_[static_cast<std::size_t>(number)];
  }
  const Type& type(std::int32_t number) const {
    return number < 0 ? lost_type_ : types_[static_cast<std::size_t>(number)];
  }
  std::int32_t thread_name(const Process& process, std::uint32_t thread) const;
  std::int32_t function(std::uint16_t number) const { return function_numbers_[number]; }
  std::int32_t flush() const { return flush_; }
  std::int32_t drain() const { return drain_; }
  std::int32_t loss() const { return loss_; }

  // All columns, in the order of EventColumn.
  arrow::Schema schema() const;

 private:
  std::vector<std::int32_t> function_numbers_;
  std::vector<Site> sites_;
  std::vector<Communicator> communicators_;
  std::vector<Scope> scopes_;
  std::vector<Type> types_;
  Site no_site_{absent, absent, absent};
  Communicator no_communicator_{absent, absent};
  Scope no_scope_{false, absent, absent};
  Type lost_type_{};
  std::int32_t flush_ = 0, drain_ = 0, loss_ = 0;
  arrow::Dictionary functions_, callers_, files_, communicator_names_, scope_names_, keys_, threads_, names_, units_;
};

}  // namespace tare::reader
