#include "bindings/source_line.h"

#include "bindings/convert.h"
#include "reader/symbols/source_line.h"

namespace tare::bindings {

nb::dict code_of_line(const std::string& object, const std::string& file, std::uint32_t line) {
  const auto work = [&] {
    const nb::gil_scoped_release unlocked;
    return reader::code_of_line(object, file, line);
  };
  const reader::LineCode code = work();
  const auto line_or_none = [](const std::optional<std::uint32_t>& number) {
    return number ? nb::object(nb::int_(*number)) : nb::object(nb::none());
  };
  nb::list ranges;
  for (const reader::CodeRange& range : code.ranges) ranges.append(nb::make_tuple(range.low, range.high));
  nb::dict row;
  row["ranges"] = ranges;
  row["file_known"] = code.file_known;
  row["before"] = line_or_none(code.before);
  row["after"] = line_or_none(code.after);
  return row;
}

}  // namespace tare::bindings
