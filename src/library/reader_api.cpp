// The C API of the reader (tare/reader.h).
#include <tare/reader.h>

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "library/run_source.h"
#include "reader/tables/tables.h"

namespace {

using tare::reader::TableKind;
using tare::reader::TableStream;

thread_local std::string last_error;

void set_error(const char* why) noexcept {
  try {
    last_error = why;
  } catch (const std::bad_alloc&) {
    last_error.clear();  // clearing needs no memory
  }
}

// The result of `work`. If it throws, the message becomes the last error, and the result is `failed`.
template <typename Failed, typename Work>
Failed guarded(Failed failed, const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    set_error("there is not enough memory");
  } catch (const std::exception& problem) {
    set_error(problem.what());
  } catch (...) {
    set_error("an unknown failure");
  }
  return failed;
}

// The state of an open run. The handle shares it with the streams that are read from the run.
struct Shared {
  explicit Shared(tare::reader::Run opened) : run(std::move(opened)) {}

  void keep_warnings(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
      if (("\n" + warnings + "\n").find("\n" + line + "\n") == std::string::npos)
        warnings += (warnings.empty() ? "" : "\n") + line;
  }

  std::mutex lock;  // guards the members below
  tare::reader::Run run;
  std::string warnings;
};

// Values as in the header.
const std::vector<tare_reader_table>& tables() {
  static const std::vector<tare_reader_table> all = [] {
    std::vector<tare_reader_table> found;
    for (const TableKind& kind : tare::reader::table_kinds()) found.push_back({kind.name, kind.row});
    return found;
  }();
  return all;
}

std::string names_of_tables() {
  std::string names;
  for (const tare_reader_table& table : tables()) names += (names.empty() ? "" : ", ") + std::string(table.name);
  return names;
}

const TableKind* kind_of(const std::string& name) {
  const TableKind* kind = tare::reader::find_table(name);
  if (kind == nullptr) set_error(("there is no table " + name + "; there are " + names_of_tables()).c_str());
  return kind;
}

}  // namespace

struct tare_reader_run {
  std::shared_ptr<Shared> shared;
  std::string shown_warnings;
};

extern "C" {

const char* tare_reader_version(void) { return TARE_VERSION; }

const char* tare_reader_error(void) { return last_error.c_str(); }

const tare_reader_table* tare_reader_tables(size_t* count) {
  return guarded<const tare_reader_table*>(nullptr, [&] {
    if (count != nullptr) *count = tables().size();
    return tables().data();
  });
}

tare_reader_run* tare_reader_open(const char* path, const char* member) {
  return guarded<tare_reader_run*>(nullptr, [&]() -> tare_reader_run* {
    if (path == nullptr) {
      set_error("no path of a run was given");
      return nullptr;
    }
    const auto paths = tare::library::find_run(path, member == nullptr ? "" : member);
    if (!paths) {
      set_error(paths.error().c_str());
      return nullptr;
    }
    auto run = tare::reader::Run::open(*paths);
    if (!run) {
      set_error(run.error().c_str());
      return nullptr;
    }
    return new tare_reader_run{std::make_shared<Shared>(std::move(*run)), {}};
  });
}

void tare_reader_close(tare_reader_run* run) { delete run; }

const char* tare_reader_warnings(tare_reader_run* run) {
  return guarded<const char*>("", [&] {
    if (run == nullptr) return "";
    const std::scoped_lock locked(run->shared->lock);
    run->shared->keep_warnings(run->shared->run.warnings());
    run->shown_warnings = run->shared->warnings;
    return run->shown_warnings.c_str();
  });
}

int tare_reader_open_table(tare_reader_run* run, const char* table, struct ArrowArrayStream* stream) {
  if (stream != nullptr) *stream = {};
  return guarded(-1, [&] {
    if (run == nullptr || table == nullptr || stream == nullptr) {
      set_error("a run, the name of a table and a stream are needed");
      return -1;
    }
    const TableKind* kind = kind_of(table);
    if (kind == nullptr) return -1;
    const std::shared_ptr<Shared> shared = run->shared;
    const std::scoped_lock locked(shared->lock);
    auto opened = kind->open(shared->run);
    if (!opened) {
      set_error(opened.error().c_str());
      return -1;
    }
    const auto read = std::make_shared<TableStream>(std::move(*opened));
    const auto next = [shared, read](std::vector<tare::reader::arrow::Array>& columns) {
      const std::scoped_lock reading(shared->lock);
      const std::size_t rows = read->next(columns);
      if (rows == 0) shared->keep_warnings(read->warnings());
      return rows;
    };
    tare::reader::arrow::export_stream(read->schema, next, *stream);
    return 0;
  });
}

}  // extern "C"
