#include "tared/tree/packet.h"

#include <type_traits>

namespace tare::tared {

namespace {

// Differs if the byte order or the version differs.
constexpr std::uint32_t magic = 0x33546d74;
constexpr std::size_t max_filter_bytes = 4096;

// The fields of each packet, in one list for both directions: `stream` writes them or reads them.
void each_field(auto& stream, auto& packet) {
  using Kind = std::remove_cvref_t<decltype(packet)>;
  if constexpr (std::is_same_v<Kind, Hello>) {
    stream.numbers(packet.node, packet.next_round);
    stream.ranks(packet.ranks);
    stream.numbers(packet.world);
    stream.text(packet.filter, max_filter_bytes);
  } else if constexpr (std::is_same_v<Kind, Names>) {
    stream.list(packet.names, max_names, [&](auto& name) {
      stream.numbers(name.key);
      stream.text(name.text, max_name_bytes);
      stream.text(name.unit, max_name_bytes);
    });
  } else if constexpr (std::is_same_v<Kind, Part>) {
    stream.numbers(packet.round);
    stream.ranks(packet.ranks);
    stream.ranks(packet.lost);
    stream.numbers(packet.first_offload_ns, packet.last_offload_ns, packet.clock_error_ns, packet.cost, packet.dropped);
    stream.rest(packet.reduced);
  } else if constexpr (std::is_same_v<Kind, Lost>) {
    stream.numbers(packet.round);
    stream.ranks(packet.ranks);
  } else if constexpr (std::is_same_v<Kind, FilterChange>) {
    stream.numbers(packet.from_round);
    stream.text(packet.filter, max_filter_bytes);
  } else if constexpr (std::is_same_v<Kind, Command>) {
    stream.rest(packet.bytes);
  } else if constexpr (!std::is_empty_v<Kind>) {
    // Numbers without padding, which are copied as bytes.
    static_assert(std::has_unique_object_representations_v<Kind>);
    stream.numbers(packet);
  }
}

struct Writing {
  Writer& out;
  void numbers(const auto&... each) { (out.put(each), ...); }
  void text(const std::string& text, std::size_t /*most*/) { out.put_text(text); }
  void ranks(const RankSet& ranks) { ranks.write(out); }
  void rest(std::span<const std::byte> bytes) { out.put_all(bytes); }
  void list(const auto& entries, std::uint32_t /*most*/, auto each) {
    out.put(static_cast<std::uint32_t>(entries.size()));
    for (const auto& entry : entries) each(entry);
  }
};

struct Reading {
  Reader& in;
  bool is_valid = true;
  void numbers(auto&... each) { ((each = in.get<std::remove_cvref_t<decltype(each)>>()), ...); }
  void text(std::string& text, std::size_t most) { text = in.get_text(most); }
  void ranks(RankSet& ranks) { is_valid = is_valid && RankSet::read(in, ranks); }
  void rest(std::span<const std::byte>& bytes) { bytes = in.take(in.left()); }
  void list(std::vector<EventName>& entries, std::uint32_t most, auto each) {
    const auto count = in.get<std::uint32_t>();
    is_valid = count <= most && count <= in.left() / (sizeof(EventKey) + 2 * sizeof(std::uint32_t));
    if (is_valid) entries.resize(count);
    for (std::size_t i = 0; is_valid && i < count && in.ok(); ++i) each(entries[i]);
  }
};

bool makes_sense(const Hello& hello) { return hello.node < max_nodes; }
bool makes_sense(const Part& part) {
  return part.clock_error_ns >= 0 && part.first_offload_ns <= part.last_offload_ns && !part.ranks.empty() &&
         !part.ranks.overlaps(part.lost);
}
bool makes_sense(const Command& command) { return command.bytes.size() <= max_command_bytes; }
bool makes_sense(const auto& /*other*/) { return true; }

template <std::size_t kind>
bool get_kind(Reader& in, std::uint32_t wanted, Packet& packet) {
  if constexpr (kind < std::variant_size_v<Packet>) {
    if (kind != wanted) return get_kind<kind + 1>(in, wanted, packet);
    auto& body = packet.emplace<kind>();
    Reading reading{in};
    each_field(reading, body);
    return reading.is_valid && in.at_end() && makes_sense(body);
  } else {
    return false;
  }
}

}  // namespace

void encode(const Packet& packet, Bytes& bytes) {
  Writer out(bytes);
  out.put(magic);
  out.put(static_cast<std::uint32_t>(packet.index()));
  Writing writing{out};
  std::visit([&](const auto& body) { each_field(writing, body); }, packet);
}

bool decode(std::span<const std::byte> bytes, Packet& packet) {
  Reader in(bytes);
  if (in.get<std::uint32_t>() != magic) return false;
  const auto kind = in.get<std::uint32_t>();
  return in.ok() && get_kind<0>(in, kind, packet);
}

}  // namespace tare::tared
