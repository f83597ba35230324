#include <cstdlib>
#include <new>

#include "format/event_codec.h"
#include "reader/event_stream.h"

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
  identity.location = buffer.thread;
  identity.block = block;
  identity.sequence = buffer.sequence;
  Encoded encoded;
  std::size_t at = 0;
  while (at < buffer.records.size()) {
    const auto chunk =
        encoder.encode(identity, buffer.records.data() + at, buffer.records.size() - at, process.tick_shift & 63U);
    if (chunk.data == nullptr) break;
    encoded.chunks.emplace_back(chunk.data, chunk.bytes);
    encoded.records += chunk.records;
    at += chunk.consumed;
    ++identity.sequence;
  }
  encoded.unreadable_bytes = buffer.records.size() - at;
  return encoded;
}

}  // namespace tare::reader
