#include "tared/tree/packet.h"

#include <utility>

namespace tare::tared {

namespace {

// Differs if the byte order or the version differs.
constexpr std::uint32_t magic = 0x33546d74;
constexpr std::size_t max_filter_bytes = 4096;

void put(Writer& out, const Hello& hello) {
  out.put(hello.node);
  out.put(hello.next_round);
  hello.ranks.write(out);
  out.put(hello.world);
  out.put_text(hello.filter);
}
bool get(Reader& in, Hello& hello) {
  hello.node = in.get<std::uint32_t>();
  hello.next_round = in.get<std::uint64_t>();
  if (hello.node >= max_nodes || !RankSet::read(in, hello.ranks)) return false;
  hello.world = in.get<std::uint32_t>();
  hello.filter = in.get_text(max_filter_bytes);
  return true;
}

void put(Writer& out, const Names& names) {
  out.put(static_cast<std::uint32_t>(names.names.size()));
  for (const EventName& name : names.names) {
    out.put(name.key);
    out.put_text(name.text);
    out.put_text(name.unit);
  }
}
bool get(Reader& in, Names& names) {
  const auto count = in.get<std::uint32_t>();
  if (count > max_names || count > in.left() / (sizeof(EventKey) + 2 * sizeof(std::uint32_t))) return false;
  names.names.resize(count);
  for (EventName& name : names.names) {
    name.key = in.get<EventKey>();
    name.text = in.get_text(max_name_bytes);
    name.unit = in.get_text(max_name_bytes);
    if (!in.ok()) return false;
  }
  return true;
}

void put(Writer& out, const Part& part) {
  out.put(part.round);
  part.ranks.write(out);
  part.lost.write(out);
  out.put(part.first_offload_ns);
  out.put(part.last_offload_ns);
  out.put(part.clock_error_ns);
  out.put(part.cost);
  out.put(part.dropped);
  out.put_all(part.reduced);
}
bool get(Reader& in, Part& part) {
  part.round = in.get<std::uint64_t>();
  if (!RankSet::read(in, part.ranks) || !RankSet::read(in, part.lost)) return false;
  part.first_offload_ns = in.get<std::int64_t>();
  part.last_offload_ns = in.get<std::int64_t>();
  part.clock_error_ns = in.get<std::int64_t>();
  part.cost = in.get<RoundCost>();
  part.dropped = in.get<std::uint64_t>();
  part.reduced = in.take(in.left());
  return part.clock_error_ns >= 0 && part.first_offload_ns <= part.last_offload_ns && !part.ranks.empty() &&
         !part.ranks.overlaps(part.lost);
}

void put(Writer& out, const Lost& lost) {
  out.put(lost.round);
  lost.ranks.write(out);
}
bool get(Reader& in, Lost& lost) {
  lost.round = in.get<std::uint64_t>();
  return RankSet::read(in, lost.ranks);
}

void put(Writer& out, const FilterChange& change) {
  out.put(change.from_round);
  out.put_text(change.filter);
}
bool get(Reader& in, FilterChange& change) {
  change.from_round = in.get<std::uint64_t>();
  change.filter = in.get_text(max_filter_bytes);
  return true;
}

void put(Writer& out, const Command& command) { out.put_all(command.bytes); }
bool get(Reader& in, Command& command) {
  command.bytes = in.take(in.left());
  return command.bytes.size() <= max_command_bytes;
}

void put(Writer& /*out*/, const End& /*end*/) {}
void put(Writer& /*out*/, const Bye& /*bye*/) {}
bool get(Reader& /*in*/, End& /*end*/) { return true; }
bool get(Reader& /*in*/, Bye& /*bye*/) { return true; }

// For structs that consist of numbers without padding, which are copied as bytes.
template <class T>
void put(Writer& out, const T& numbers) {
  static_assert(std::has_unique_object_representations_v<T>);
  out.put(numbers);
}
template <class T>
bool get(Reader& in, T& numbers) {
  numbers = in.get<T>();
  return true;
}

template <std::size_t kind>
bool get_kind(Reader& in, std::uint32_t wanted, Packet& packet) {
  if constexpr (kind < std::variant_size_v<Packet>) {
    if (kind != wanted) return get_kind<kind + 1>(in, wanted, packet);
    return get(in, packet.emplace<kind>()) && in.at_end();
  } else {
    return false;
  }
}

}  // namespace

void encode(const Packet& packet, Bytes& bytes) {
  Writer out(bytes);
  out.put(magic);
  out.put(static_cast<std::uint32_t>(packet.index()));
  std::visit([&](const auto& body) { put(out, body); }, packet);
}

bool decode(std::span<const std::byte> bytes, Packet& packet) {
  Reader in(bytes);
  if (in.get<std::uint32_t>() != magic) return false;
  const auto kind = in.get<std::uint32_t>();
  return in.ok() && get_kind<0>(in, kind, packet);
}

}  // namespace tare::tared
