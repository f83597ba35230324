#include "reader/symbols/symbol_table.h"

#include "format/symbol.h"
#include "reader/store/payload.h"

namespace tare::reader {
namespace {

using format::SymbolEntry;

std::string key_of(const CodeAddress& at) {
  std::string key(reinterpret_cast<const char*>(&at.address), sizeof at.address);
  key += at.build_id;
  key += '\0';
  key += at.object;
  return key;
}

// The callee, then the functions. Each name ends with a zero byte; the padding consists of zero bytes, too.
void take_call(std::string_view from, Symbol& symbol) {
  bool first = true;
  for (std::size_t end; (end = from.find('\0')) != std::string_view::npos; from.remove_prefix(end + 1)) {
    if (first)
      symbol.callee.assign(from.substr(0, end));
    else if (end > 0)
      symbol.functions.emplace_back(from.substr(0, end));
    first = false;
  }
}

std::string call_of(const Symbol& symbol) {
  std::string text;
  if (symbol.callee.empty() && symbol.functions.empty()) return text;
  text.append(symbol.callee).append(1, '\0');
  for (const std::string& function : symbol.functions) text.append(function).append(1, '\0');
  return text;
}

}  // namespace

bool SymbolTable::apply(std::string_view payload) {
  while (!payload.empty()) {
    SymbolEntry head;
    std::string_view text = payload;
    if (!take_record(text, head)) return false;
    if (head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > payload.size()) return false;
    text = text.substr(0, head.bytes - sizeof head);
    CodeAddress at;
    Symbol symbol;
    at.address = head.address;
    symbol.line = head.line;
    if (!take_text(text, head.object_bytes, at.object) || !take_text(text, head.build_id_bytes, at.build_id) ||
        !take_text(text, head.caller_bytes, symbol.caller) || !take_text(text, head.file_bytes, symbol.file))
      return false;
    take_call(text, symbol);
    symbols_[key_of(at)] = std::move(symbol);
    payload.remove_prefix(head.bytes);
  }
  return true;
}

const Symbol* SymbolTable::find(const CodeAddress& at) const {
  const auto found = symbols_.find(key_of(at));
  return found == symbols_.end() ? nullptr : &found->second;
}

void append_symbol(std::string& payload, const CodeAddress& at, const Symbol& symbol) {
  const std::string call = call_of(symbol);
  const std::size_t text =
      at.object.size() + at.build_id.size() + symbol.caller.size() + symbol.file.size() + call.size();
  const std::size_t padded = (sizeof(SymbolEntry) + text + 7) / 8 * 8;
  SymbolEntry head{};
  head.bytes = static_cast<std::uint32_t>(padded);
  head.line = symbol.line;
  head.address = at.address;
  head.object_bytes = static_cast<std::uint32_t>(at.object.size());
  head.build_id_bytes = static_cast<std::uint32_t>(at.build_id.size());
  head.caller_bytes = static_cast<std::uint32_t>(symbol.caller.size());
  head.file_bytes = static_cast<std::uint32_t>(symbol.file.size());
  payload.append(reinterpret_cast<const char*>(&head), sizeof head);
  payload += at.object + at.build_id + symbol.caller + symbol.file + call;
  payload.append(padded - sizeof head - text, '\0');
}

}  // namespace tare::reader
