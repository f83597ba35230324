// Whatever a peer of the monitoring tree sends, decoding and reducing it neither crashes nor takes memory that the
// packet does not have.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tared/filters/filter.h"
#include "tared/filters/groups.h"
#include "tared/filters/tables.h"
#include "tared/tree/packet.h"

using namespace tare::tared;

namespace {

void reduce(std::span<const std::byte> bytes) {
  for (const char* name : {"statistics", "histogram", "quantiles", "groups", "none", "statistics+histogram:16"}) {
    std::string error;
    const auto reduction = make_filter(name, error)->begin();
    if (!reduction->merge(bytes)) continue;
    reduction->merge(bytes);
    Bytes written;
    Writer out(written);
    reduction->write(out);
    if (auto* groups = dynamic_cast<GroupReduction*>(reduction.get())) {
      GroupTable table = groups->table();
      settle(table, 2, GroupReduction::alike);
    }
    if (!make_filter(name, error)->begin()->merge(written)) __builtin_trap();  // what a filter writes, it reads
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  reduce(input.subspan(1));
  // A head that is right, so that bodies are reached: the first byte says which.
  Bytes packet;
  encode(End{}, packet);
  packet[4] = static_cast<std::byte>(data[0] % std::variant_size_v<Packet>);
  packet.insert(packet.end(), input.begin() + 1, input.end());
  Packet decoded;
  if (!decode(packet, decoded)) return 0;
  Bytes again;
  encode(decoded, again);
  if (again != packet) __builtin_trap();
  if (const auto* part = std::get_if<Part>(&decoded)) reduce(part->reduced);
  return 0;
}
