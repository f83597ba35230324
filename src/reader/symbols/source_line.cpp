#include "reader/symbols/source_line.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <string_view>

#include "reader/symbols/debug_file.h"

namespace tare::reader {
namespace {

bool ends_in(std::string_view path, std::string_view file) {
  if (!path.ends_with(file)) return false;
  return !file.empty() &&
         (path.size() == file.size() || file.starts_with('/') || path[path.size() - file.size() - 1] == '/');
}

class LineSearch {
 public:
  LineSearch(const std::string& file, std::uint32_t line) : file_(file), line_(line) {}

  // Searches a compilation unit. `bias`: address in the object = bias + address in the unit.
  void unit(Dwarf_Die* unit, Dwarf_Addr bias) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0) return;
    wanted_.assign(count, false);
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      const char* path = dwarf_filesrc(files, i, nullptr, nullptr);
      wanted_[i] = path != nullptr && ends_in(path, file_);
      any = any || wanted_[i];
    }
    if (!any) return;
    bias_ = bias;
    line_table(unit);
    inlined_calls(unit);
  }

  LineCode found() {
    std::sort(found_.ranges.begin(), found_.ranges.end(),
              [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
    std::vector<CodeRange> apart;
    for (const CodeRange& range : found_.ranges) {
      if (apart.empty() || range.low > apart.back().high)
        apart.push_back(range);
      else
        apart.back().high = std::max(apart.back().high, range.high);
    }
    found_.ranges = std::move(apart);
    return std::move(found_);
  }

 private:
  void code(Dwarf_Word file, Dwarf_Word number, Dwarf_Addr low, Dwarf_Addr high) {
    if (file >= wanted_.size() || !wanted_[file] || number == 0 || low >= high) return;
    const auto line = static_cast<std::uint32_t>(number);
    found_.file_known = true;
    if (line < line_) found_.before = std::max(found_.before.value_or(0), line);
    if (line > line_) found_.after = std::min(found_.after.value_or(UINT32_MAX), line);
    if (line == line_) found_.ranges.push_back({low + bias_, high + bias_});
  }

  // The code of a row of the line table ends where the next row begins.
  void line_table(Dwarf_Die* unit) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* row = dwarf_onesrcline(lines, i);
      Dwarf_Addr low = 0;
      Dwarf_Addr high = 0;
      int number = 0;
      bool ends = true;
      Dwarf_Files* files = nullptr;
      std::size_t file = 0;
      if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &number) != 0 || number <= 0 ||
          dwarf_lineaddr(row, &low) != 0 || dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &high) != 0 ||
          dwarf_line_file(row, &files, &file) != 0)
        continue;
      code(file, static_cast<Dwarf_Word>(number), low, high);
    }
  }

  // The line table gives inlined code the lines of the inlined function. The entry of the inlined function says which
  // line called it.
  void inlined_calls(Dwarf_Die* parent) {
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0) return;
    do {
      if (dwarf_tag(&die) == DW_TAG_inlined_subroutine) inlined_call(&die);
      inlined_calls(&die);
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  void inlined_call(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0)
      return;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) code(file, line, low, high);
  }

  std::string_view file_;
  std::uint32_t line_;
  std::vector<bool> wanted_;  // by file of the unit: whether its path matches
  Dwarf_Addr bias_ = 0;
  LineCode found_;
};

}  // namespace

LineCode code_of_line(const std::string& object, const std::string& file, std::uint32_t line) {
  LineSearch search(file, line);
  const DebugFile debug(object);
  if (debug.module() == nullptr) return {};
  Dwarf_Die* unit = nullptr;
  Dwarf_Addr bias = 0;
  while ((unit = dwfl_module_nextcu(debug.module(), unit, &bias)) != nullptr) search.unit(unit, bias - debug.bias());
  return search.found();
}

}  // namespace tare::reader
