/* libtare-otf2-unwritten.so: with it, tools that use the shared library of OTF2 record and encode events as usual, but
 * write no files.
 *
 * It opens archives with OTF2_SUBSTRATE_NONE ("to suppress file writing at all", says the manual of OTF2) instead of
 * the substrate that the tool asks for. So the tool and OTF2 do all their work except for writing files. `tare study`
 * preloads it to separate the cost of instrumentation from that of writing (docs/study.md). The numbers are those of
 * OTF2_GeneralDefinitions.h in OTF2 1.2 to 3.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct OTF2_Archive_struct OTF2_Archive;
enum { FILEMODE_WRITE = 0, SUBSTRATE_NONE = 3 };

typedef OTF2_Archive* (*Open)(const char*, const char*, uint8_t, uint64_t, uint64_t, uint8_t, uint8_t);

__attribute__((visibility("default"))) OTF2_Archive* OTF2_Archive_Open(const char* path, const char* name, uint8_t mode,
                                                                       uint64_t event_chunk, uint64_t definition_chunk,
                                                                       uint8_t substrate, uint8_t compression) {
  const Open next = (Open)dlsym(RTLD_NEXT, "OTF2_Archive_Open");
  if (!next) return NULL; /* as if the archive could not be opened */
  return next(path, name, mode, event_chunk, definition_chunk, mode == FILEMODE_WRITE ? SUBSTRATE_NONE : substrate,
              compression);
}
