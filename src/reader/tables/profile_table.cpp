#include "reader/tables/profile_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "reader/tables/site_text.h"
#include "reader/tables/stored_rows.h"

namespace tare::reader {
namespace {

using namespace row_columns;

struct Row : ProfileRowSum {
  bool is_timed() const { return sum.timed_calls > 0; }
};
using Columns = std::vector<RowColumn<Row>>;

constexpr double no_mean = std::numeric_limits<double>::lowest();

template <class Of>
RowColumn<Row> count(const char* name, Of of) {
  return int64<Row>(name, [of](const Row& row) { return static_cast<std::int64_t>(of(row)); });
}

template <class Of>
RowColumn<Row> count_if_known(const char* name, Of of) {
  return int64<Row>(name, [of](const Row& row) { return of(row).value_or(INT64_MIN); });
}

// A column with a quantity over single ranks; null if no rank made a timed call.
template <class Of>
RowColumn<Row> over_ranks(const char* name, Of of) {
  return count_if_known(name, [of](const Row& row) {
    return row.sum.ranks > 0 ? std::optional(static_cast<std::int64_t>(of(row.sum))) : std::nullopt;
  });
}

std::int64_t size_from(std::int16_t size_class) {
  if (size_class < 0) return INT64_MIN;
  return size_class == 0 ? 0 : std::int64_t{1} << std::min<int>(size_class - 1, 62);
}

std::int64_t size_to(std::int16_t size_class) {
  if (size_class < 0) return INT64_MIN;
  return size_class >= 63 ? INT64_MAX : std::int64_t{1} << size_class;
}

// The dictionaries to which the columns of keys refer.
struct Texts {
  Texts(Run& run, bool with_paths) : places(std::make_shared<const PlaceTexts>(run, with_paths)) {
    for (const std::string& name : run.functions().names()) functions_of.push_back(functions.number_of(name));
    for (const std::string& name : communicator_names(run)) communicators_of.push_back(communicators.number_of(name));
  }

  std::shared_ptr<const PlaceTexts> places;
  arrow::Dictionary functions, communicators;
  std::vector<std::int32_t> functions_of, communicators_of;
};

Columns columns_of(ProfileKey key, const Texts& texts, const std::vector<CommunicatorInfo>& communicators) {
  const auto place = [places = texts.places](const Row& row) -> const PlaceNumbers& {
    return places->of(row.sum.key.site);
  };
  const arrow::Field functions{{}, arrow::Type::dictionary, true, {}, texts.functions.array()};
  const arrow::Field names{{}, arrow::Type::dictionary, true, {}, texts.communicators.array()};
  Columns columns;
  switch (key) {
    case ProfileKey::site:
    case ProfileKey::line:
    case ProfileKey::function:
      columns.push_back(text<Row>("function", functions,
                                  [of = texts.functions_of](const Row& row) { return of[row.sum.key.function]; }));
      if (key == ProfileKey::function) break;
      columns.push_back(index<Row>("site", [](const Row& row) { return row.sum.key.site; }));
      for (RowColumn<Row>& column : texts.places->columns<Row>(place)) columns.push_back(std::move(column));
      if (key == ProfileKey::site) columns.push_back(texts.places->path_column<Row>(place));
      break;
    case ProfileKey::size:
      columns.push_back(int64<Row>("size_from", [](const Row& row) { return size_from(row.sum.key.size_class); }));
      columns.push_back(int64<Row>("size_to", [](const Row& row) { return size_to(row.sum.key.size_class); }));
      break;
    case ProfileKey::communicator:
      columns.push_back(text<Row>("communicator", names, [of = texts.communicators_of](const Row& row) {
        const std::int32_t number = row.sum.key.communicator;
        return number < 0 ? absent : of[static_cast<std::size_t>(number)];
      }));
      columns.push_back(int32<Row>("communicator_size", [&communicators](const Row& row) {
        const std::int32_t number = row.sum.key.communicator;
        return number < 0 ? absent : communicators[static_cast<std::size_t>(number)].size;
      }));
      columns.push_back(index<Row>("communicator_number", [](const Row& row) { return row.sum.key.communicator; }));
      break;
    case ProfileKey::rank:
      columns.push_back(int32<Row>("rank", [](const Row& row) { return row.sum.key.rank; }));
      break;
  }
  return columns;
}

Columns figures() {
  return {count("calls", [](const Row& row) { return row.sum.calls; }),
          count("time_ns", [](const Row& row) { return row.sum.time_ns; }),
          float64<Row>("mean_ns",
                       [](const Row& row) {
                         return row.is_timed()
                                    ? static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.timed_calls)
                                    : 0.0;
                       }),
          count("min_ns", [](const Row& row) { return row.sum.min_ns; }),
          count("max_ns", [](const Row& row) { return row.sum.max_ns; }),
          count("bytes", [](const Row& row) { return row.sum.bytes; }),
          count("received", [](const Row& row) { return row.sum.received; }),
          count("waited_ns", [](const Row& row) { return row.sum.waited_ns; }),
          boolean<Row>("timed", [](const Row& row) { return row.is_timed(); }),
          count("estimated_calls", [](const Row& row) { return row.sum.estimated; }),
          count_if_known("time_error_ns", [](const Row& row) { return row.time_error_ns; }),
          count("counted", [](const Row& row) { return row.sum.counted; })};
}

Columns figures_over_ranks() {
  const auto rank = [](const char* name, std::int32_t ProfileSum::*of) {
    return int32<Row>(name, [of](const Row& row) { return row.sum.ranks > 0 ? row.sum.*of : absent; });
  };
  return {
      int32<Row>("ranks",
                 [](const Row& row) { return row.sum.ranks > 0 ? static_cast<std::int32_t>(row.sum.ranks) : absent; }),
      nullable<Row, double>({"rank_mean_ns", arrow::Type::float64}, no_mean,
                            [](const Row& row) {
                              return row.sum.ranks > 0
                                         ? static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.ranks)
                                         : no_mean;
                            }),
      over_ranks("rank_min_ns", [](const ProfileSum& sum) { return sum.rank_time_min_ns; }),
      rank("rank_min", &ProfileSum::rank_time_min_at),
      over_ranks("rank_max_ns", [](const ProfileSum& sum) { return sum.rank_time_max_ns; }),
      rank("rank_max", &ProfileSum::rank_time_max_at),
      count_if_known("imbalance_ns", [](const Row& row) { return row.imbalance_ns; })};
}

Columns figures_of_whole_run() {
  const auto figure = [](const char* name, std::optional<std::int64_t> WholeRun::*of) {
    return count_if_known(name, [of](const Row& row) { return row.whole.*of; });
  };
  return {figure("whole_calls", &WholeRun::calls),     figure("whole_calls_error", &WholeRun::calls_error),
          figure("whole_time_ns", &WholeRun::time_ns), figure("whole_time_error_ns", &WholeRun::time_error_ns),
          figure("whole_bytes", &WholeRun::bytes),     figure("whole_bytes_error", &WholeRun::bytes_error)};
}

// Appends the columns whose names are not used yet.
void append(Columns& columns, Columns more) {
  for (RowColumn<Row>& column : more) {
    const auto is_same = [&](const RowColumn<Row>& other) { return other.field.name == column.field.name; };
    if (std::none_of(columns.begin(), columns.end(), is_same)) columns.push_back(std::move(column));
  }
}

}  // namespace

ProfileKeys keys_of(const std::vector<ProfileKey>& by) {
  const auto has = [&](ProfileKey key) { return std::find(by.begin(), by.end(), key) != by.end(); };
  return {has(ProfileKey::site), has(ProfileKey::line),         has(ProfileKey::function),
          has(ProfileKey::size), has(ProfileKey::communicator), has(ProfileKey::rank)};
}

std::optional<ProfileKey> profile_key(const std::string& name) {
  constexpr std::array<std::string_view, 6> names = {"site", "line", "function", "size", "communicator", "rank"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<ProfileKey>(found - names.begin());
}

Result<TableStream> profile_table(Run& run, const std::vector<ProfileKey>& by, const ProfileChoice& choice) {
  const ProfileKeys keys = keys_of(by);
  const Texts texts(run, keys.site);
  Columns columns{int32<Row>("world", [](const Row& row) { return row.sum.key.world; })};
  for (const ProfileKey key : by) append(columns, columns_of(key, texts, run.communicators()));
  append(columns, figures());
  if (!keys.rank) append(columns, figures_over_ranks());
  if (keys.has_function()) append(columns, figures_of_whole_run());
  if (keys.is_rank_alone()) columns.push_back(float64<Row>("mpi_share", [](const Row& row) { return row.mpi_share; }));
  std::vector<Row> rows;
  for (const ProfileRowSum& row : profile_rows(run, keys, choice)) rows.push_back({row});
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> profile_table(Run& run) {
  return profile_table(run, {ProfileKey::site, ProfileKey::communicator, ProfileKey::size}, {});
}

}  // namespace tare::reader
