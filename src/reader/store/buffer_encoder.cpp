#include <cstdlib>
#include <new>

#include "format/event_codec.h"
#include "reader/store/buffer_encoder.h"

namespace tare::reader {

BufferEncoder::BufferEncoder()
    : workspace_(std::aligned_alloc(64, (format::EventEncoder::workspace_bytes() + 63) / 64 * 64)) {
  if (workspace_ == nullptr) throw std::bad_alloc();
}

BufferEncoder::~BufferEncoder() { std::free(workspace_); }

BufferEncoder::Encoded BufferEncoder::encode(const format::ProcessRecord& process, std::uint32_t block,
                                             const BufferCopy& buffer) {
  format::EventEncoder encoder(workspace_);
  format::ChunkHeader identity{};
  identity.process = process.process;
  identity.block = block;
  identity.sequence = buffer.sequence;
  Encoded encoded;
  for (std::size_t i = 0; i < buffer.parts.size(); ++i) {
    const BufferCopy::Part& part = buffer.parts[i];
    const std::uint32_t first = identity.sequence;
    identity.location = part.thread;
    std::size_t at = 0;
    while (at < part.records.size()) {
      const auto chunk =
          encoder.encode(identity, part.records.data() + at, part.records.size() - at, process.tick_shift & 63U);
      if (chunk.data == nullptr) break;
      encoded.chunks.emplace_back(chunk.data, chunk.bytes);
      encoded.records += chunk.records;
      at += chunk.consumed;
      ++identity.sequence;
    }
    encoded.unreadable_bytes += part.records.size() - at;
    identity.sequence = buffer.ring.sequence_behind(buffer.oldest + i, first, identity.sequence - first);
  }
  return encoded;
}

}  // namespace tare::reader
