/* The tracepoint of lttng_events.cpp: four ints. LTTng's macros read this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tare_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#  define LTTNG_PROVIDER_H

#  include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(tare_bench, event, LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a) lttng_ust_field_integer(int, b, b)
                                                   lttng_ust_field_integer(int, c, c)
                                                       lttng_ust_field_integer(int, d, d)))

#endif

#include <lttng/tracepoint-event.h>
