// The directories of the run, in a process that changes its root (chroot). Their paths lead nowhere there, so a
// descriptor of each is kept. In all other processes the library keeps no descriptor.
//
// The program may close the descriptors, as daemons close all that they find, and open its own files with these
// numbers. So a descriptor is used only if it is that of the directory still. It does not allow reading or writing
// (O_PATH): if it changes between the look and its use, at worst no file is found.
#pragma once

namespace tare::recorder {

// Notes where the run and its segments lie.
void note_directories(const char* run_dir, const char* segment_dir) noexcept;

// The program is about to change its root. True if descriptors were opened. They are released if it tries in vain.
bool keep_directories() noexcept;
void release_directories() noexcept;

// How to find a file: `name` relative to a descriptor, as openat() takes it.
struct Place {
  int directory;
  const char* name;
};
Place place_of(const char* path) noexcept;

}  // namespace tare::recorder
