#include "reader/symbols/source_line.h"

#include "bindings/fields.h"
#include "bindings/parts.h"

namespace tare::bindings {

void define_source_line(nb::module_& module) {
  using namespace nb::literals;
  using reader::LineCode;
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Fields<LineCode>(module, "LineCode",
                   "The code of a line of an object. `before` and `after`: the nearest lines with code.")
      .value("ranges",
             [](const LineCode& of) {
               Ranges ranges;
               for (const reader::CodeRange& range : of.ranges) ranges.emplace_back(range.low, range.high);
               return ranges;
             })
      .members<&LineCode::file_known, &LineCode::before, &LineCode::after>();
  module.def("code_of_line", &reader::code_of_line, "object"_a, "file"_a, "line"_a,
             nb::call_guard<nb::gil_scoped_release>(),
             "The code of all files whose path is `file` or ends in it, folder by folder. Ranges are addresses in the "
             "object, without the second one.");
}

}  // namespace tare::bindings
