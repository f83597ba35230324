// Of times, which damage can make as large as can be.
#pragma once

#include "format/time_arithmetic.h"

namespace tare::reader {

using format::difference;
using format::product;
using format::sum;

}  // namespace tare::reader
