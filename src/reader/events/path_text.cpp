#include "reader/events/path_text.h"

#include <array>
#include <cstdio>

#include "reader/symbols/short_name.h"

namespace tare::reader {
namespace {

constexpr const char* python = "python";  // the object of a frame in Python code
constexpr const char* gap = "\xe2\x80\xa6";
constexpr const char* cut = "\xe2\x80\xa6 beyond here the stack is not known";

std::string last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// "a.c:12"; without debug information "libapp.so+0x12f0".
std::string place_of(const FrameInfo& frame) {
  if (!frame.symbol.file.empty())
    return last_part(frame.symbol.file) + (frame.symbol.line != 0 ? ":" + std::to_string(frame.symbol.line) : "");
  if (frame.at.object.empty()) return "-";
  std::array<char, 24> offset{};
  std::snprintf(offset.data(), offset.size(), "+%#llx", static_cast<unsigned long long>(frame.at.address));
  return last_part(frame.at.object) + (frame.at.address == 0 ? "+0x0" : offset.data());
}

std::string frame_text(const FrameInfo& frame) {
  const std::string& caller = frame.symbol.caller;
  if (caller.empty()) return place_of(frame);
  if (frame.at.object.empty() && frame.symbol.file.empty()) return short_name_with_inlined(caller);
  return (frame.at.object == python ? caller : short_name_with_inlined(caller)) + " " + place_of(frame);
}

}  // namespace

std::string path_text(const SiteInfo& site, const std::vector<FrameInfo>& frames) {
  std::string all;
  const auto add = [&all](const std::string& part) { all += (all.empty() ? "" : " < ") + part; };
  for (std::size_t i = 0; i < site.path.size(); ++i) {
    if ((site.flags & format::frames_left_out) != 0 && i + 1 == site.path.size()) add(gap);
    if (!site.tail_calls.empty() && !site.tail_calls[i].empty()) add(short_name(site.tail_calls[i]) + " (tail call)");
    add(frame_text(frames[static_cast<std::size_t>(site.path[i])]));
  }
  if ((site.flags & format::path_cut) != 0) add(cut);
  return all;
}

}  // namespace tare::reader
