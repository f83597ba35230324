// Arithmetic on times that does not overflow, because damaged files may contain any time.
#pragma once

#include "format/time_arithmetic.h"

namespace tare::reader {

using format::difference;
using format::product;
using format::sum;

}  // namespace tare::reader
