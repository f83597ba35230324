#include "format/function_meaning.h"

#include "format/functions.h"

namespace tare::format {
namespace {

constexpr FunctionMeaning meanings[] = {
    {},
#define TARE_MEANING(name, kind, form, waits, is_rooted, is_poll, bounds_net_time, calls_others) \
  {CallClass::kind, CallForm::form, Waits::waits, is_rooted, is_poll, bounds_net_time, calls_others},
#include "meanings.inc"
#undef TARE_MEANING
};
static_assert(sizeof meanings == (function_count + 1) * sizeof(FunctionMeaning));

}  // namespace

const FunctionMeaning& meaning_of(unsigned number) noexcept { return meanings[number <= function_count ? number : 0]; }

}  // namespace tare::format
