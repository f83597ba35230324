// The columns of tables that show call sites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/events/row_table.h"
#include "reader/run/run.h"
#include "reader/tables/stored_rows.h"

namespace tare::reader {

// All frames of a call path in one line, each function to the left of its caller: "solve a.c:12 < main a.c:40".
std::string path_text(const SiteInfo& site, const std::vector<FrameInfo>& frames);

// For the frame that is shown for a site, the indices of its texts in the dictionaries, its line and its offset in the
// object. `absent` (offset: INT64_MIN) if not known.
struct PlaceNumbers {
  std::int32_t file = absent, line = absent, caller = absent, object = absent, tail_call = absent, path = absent;
  std::int64_t offset = INT64_MIN;
};

// The texts of all sites of a run, as dictionaries of columns.
class PlaceTexts {
 public:
  // `with_paths`: whether path_column() is used.
  PlaceTexts(Run& run, bool with_paths);

  // `site`: index in Run::sites(). For -1, all fields are absent.
  const PlaceNumbers& of(std::int32_t site) const {
    return site < 0 ? nothing_ : sites_[static_cast<std::size_t>(site)];
  }

  // The columns file, line, caller, object, offset and tail_call. `place` returns the PlaceNumbers of a row.
  template <class Row, class Place>
  std::vector<RowColumn<Row>> columns(Place place) const {
    using namespace row_columns;
    return {text<Row>("file", field(files_), [=](const Row& row) { return place(row).file; }),
            int32<Row>("line", [=](const Row& row) { return place(row).line; }),
            text<Row>("caller", field(callers_), [=](const Row& row) { return place(row).caller; }),
            text<Row>("object", field(objects_), [=](const Row& row) { return place(row).object; }),
            int64<Row>("offset", [=](const Row& row) { return place(row).offset; }),
            text<Row>("tail_call", field(tail_calls_), [=](const Row& row) { return place(row).tail_call; })};
  }
  template <class Row, class Place>
  RowColumn<Row> path_column(Place place) const {
    return row_columns::text<Row>("path", field(paths_), [=](const Row& row) { return place(row).path; });
  }

 private:
  static arrow::Field field(const arrow::Dictionary& texts) {
    return {{}, arrow::Type::dictionary, true, {}, texts.array()};
  }

  std::vector<PlaceNumbers> sites_;
  PlaceNumbers nothing_;
  arrow::Dictionary files_, callers_, objects_, tail_calls_, paths_;
};

}  // namespace tare::reader
