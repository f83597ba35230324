// The call sites, communicators and scopes that calls refer to, as rows for Python (Site, Communicator and Scope in
// _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::list site_rows(reader::Run& run);
nanobind::list communicator_rows(const reader::Run& run);
nanobind::list scope_rows(const reader::Run& run);

}  // namespace tare::bindings
