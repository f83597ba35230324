// tare._native.Archive and ArchiveWriter.
#pragma once

#include <nanobind/nanobind.h>

namespace tare::bindings {

void define_archives(nanobind::module_& module);

}  // namespace tare::bindings
