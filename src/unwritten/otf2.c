/* libtare-otf2-unwritten.so: tools that write with OTF2's shared library record and encode as always, and write
 * nothing.
 *
 * Archives are opened with OTF2_SUBSTRATE_NONE, which OTF2's manual has "to suppress file writing at all", in place of
 * what the tool asks for: all of the tool's and of OTF2's own work stays, and only the files go. `tare study` preloads
 * it, to tell instrumentation from writing (docs/study.md). Numbers are those of OTF2_GeneralDefinitions.h, OTF2 1.2
 * to 3.
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
  if (!next) return NULL; /* as where an archive cannot be opened */
  return next(path, name, mode, event_chunk, definition_chunk, mode == FILEMODE_WRITE ? SUBSTRATE_NONE : substrate,
              compression);
}
