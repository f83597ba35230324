#include "recorder/inside.h"

constinit thread_local std::uintptr_t tare_inside = 0;
