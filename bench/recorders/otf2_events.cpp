// The events with OTF2: MPI_Send events, which have four integers. The caller reads the clock, as tools on OTF2 do.
#include <pthread.h>
#include <stdlib.h>  // of the header that follows
#include <string.h>

#include <otf2/OTF2_Pthread_Locks.h>
#include <otf2/otf2.h>

#include <atomic>

#include "events.h"

namespace {

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp after_flush(void*, OTF2_FileType, OTF2_LocationRef) { return __rdtsc(); }

// One writer for each thread, as OTF2 wants it.
OTF2_EvtWriter* writer_of_thread(OTF2_Archive* archive) {
  static std::atomic<std::uint64_t> next{0};
  thread_local OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, next++);
  return writer;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  if (arguments.table) return 2;
  OTF2_Archive* archive =
      OTF2_Archive_Open(arguments.path.c_str(), "trace", OTF2_FILEMODE_WRITE,
                        std::clamp<std::uint64_t>(arguments.buffer, OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MAX),
                        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) return 1;
  OTF2_FlushCallbacks flush{};
  flush.otf2_pre_flush = before_flush;
  flush.otf2_post_flush = after_flush;
  OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  if (OTF2_Pthread_Archive_SetLockingCallbacks(archive, nullptr) != OTF2_SUCCESS) return 1;
  OTF2_Archive_OpenEvtFiles(archive);
  print_cost(arguments, [archive](int i) {
    const auto n = static_cast<std::uint32_t>(i);
    OTF2_EvtWriter_MpiSend(writer_of_thread(archive), nullptr, __rdtsc(), n, n + 1, n + 2, n + 3);
  });
  for (int i = 0; i < arguments.threads; ++i)
    OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, static_cast<std::uint64_t>(i)));
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_Close(archive);
}
