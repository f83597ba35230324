#include "recorder/event_chunks.h"

#include <cerrno>

#include "recorder/borrowed_encoder.h"
#include "recorder/node_file.h"

namespace tare::recorder {

Written write_records(const format::SegmentHeader& segment, const FirstChunk& first, const char* records,
                      std::uint64_t bytes) noexcept {
  Written written;
  const BorrowedEncoder encoder;
  if (!encoder) written.lost = format::count_records(records, bytes);
  for (std::uint64_t done = 0; encoder && done < bytes;) {
    format::ChunkHeader header = identity(segment, format::ChunkType::events);
    header.location = first.thread;
    header.block = first.block;
    header.sequence = first.sequence + written.chunks;
    const auto chunk = encoder->encode(header, records + done, bytes - done, segment.process.tick_shift);
    if (chunk.data == nullptr) break;
    done += chunk.consumed;
    ++written.chunks;
    if ((segment.process.flags & format::not_written) != 0 || append_chunk(chunk.data, chunk.bytes)) {
      written.records += chunk.records;
      written.bytes += chunk.bytes;
    } else {
      written.lost += chunk.records;
      written.error = errno;
    }
  }
  return written;
}

}  // namespace tare::recorder
