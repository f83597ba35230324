#include "reader/symbols/short_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace tare::reader {
namespace {

constexpr std::string_view inlined = " (inlined in ";
constexpr std::string_view anonymous = "(anonymous namespace)";
constexpr std::string_view keyword = "operator";
// Operators with brackets or '-' in their names, longer ones first.
constexpr std::array<std::string_view, 13> operators = {
    "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">", {}};
// Placeholders for parts of names whose brackets are no brackets of arguments.
constexpr char an_operator = '\0';
constexpr char no_namespace = '\1';

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// Replaces each operator by the placeholder. Returns the operators in their order.
std::vector<std::string_view> take_operators(std::string& text) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; (at = text.find(keyword, at)) != std::string::npos;) {
    at += keyword.size();
    std::size_t from = at;
    while (from < text.size() && is_space(text[from])) ++from;
    const auto is_here = [&](std::string_view each) { return text.compare(from, each.size(), each) == 0; };
    const std::string_view here = *std::find_if(operators.begin(), operators.end(), is_here);  // the last one matches
    if (here.empty()) continue;
    text.replace(at, from - at + here.size(), 1, an_operator);
    ++at;
    found.push_back(here);
  }
  return found;
}

// The text without these brackets and what they enclose; the unchanged text if they do not match.
std::string outside(const std::string& text, char opening, char closing) {
  std::string kept;
  std::size_t depth = 0;
  for (const char letter : text) {
    if (letter == opening)
      ++depth;
    else if (letter == closing && depth > 0)
      --depth;
    else if (depth == 0)
      kept += letter;
  }
  return depth == 0 ? kept : text;
}

void strip(std::string& text) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  text.erase(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_space) - text.begin()));
}

bool drop_end(std::string& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

// Removes a tag at the end: "[clone .cold]" or "[abi:cxx11]". False if there is none.
bool drop_tag(std::string& text) {
  const std::size_t at = text.ends_with(']') ? text.rfind('[') : std::string::npos;
  if (at == std::string::npos) return false;
  const std::string_view tag = std::string_view(text).substr(at);
  if (!tag.starts_with("[clone ") && !tag.starts_with("[abi:")) return false;
  text.resize(at);
  return true;
}

void drop_qualifiers(std::string& text) {
  do strip(text);
  while (drop_end(text, "const") || drop_end(text, "volatile") || drop_end(text, "noexcept") || drop_end(text, "&") ||
         drop_tag(text));
}

}  // namespace

std::string short_name(std::string_view name) {
  if (name.find_first_of("(<") == std::string_view::npos) return std::string(name);
  std::string text(name);
  const std::vector<std::string_view> taken = take_operators(text);
  replace_all(text, anonymous, std::string_view(&no_namespace, 1));
  text = outside(outside(text, '<', '>'), '(', ')');
  if (text.find_first_of("<>()") != std::string::npos) return std::string(name);
  drop_qualifiers(text);
  // The return type ends at the last space that is not part of the name of an operator ("operator bool").
  const std::size_t end = std::min(text.find(keyword), text.size());
  if (end > 0)
    if (const std::size_t space = text.rfind(' ', end - 1); space != std::string::npos) text.erase(0, space + 1);
  for (const std::string_view each : taken)
    if (const std::size_t at = text.find(an_operator); at != std::string::npos) text.replace(at, 1, each);
  replace_all(text, std::string_view(&no_namespace, 1), anonymous);
  return text.empty() ? std::string(name) : text;
}

std::string short_name_with_inlined(std::string_view name) {
  const std::size_t at = name.find(inlined);
  if (at == std::string_view::npos) return short_name(name);
  std::string_view outer = name.substr(at + inlined.size());
  if (outer.ends_with(')')) outer.remove_suffix(1);
  return short_name(name.substr(0, at)) + std::string(inlined) + short_name(outer) + ")";
}

}  // namespace tare::reader
