#include "format/function_meaning.h"

#include "format/functions.h"

namespace tare::format {
namespace {

constexpr FunctionMeaning meanings[] = {
    {},
#define TARE_MEANING(name, class_, form_, waits_, operation_, accesses, epoch_, access_, ...) \
  {.kind = CallClass::class_,                                                                 \
   .form = CallForm::form_,                                                                   \
   .waits = Waits::waits_,                                                                    \
   .operation = Operation::operation_,                                                        \
   .completes_accesses = CompletesAccesses::accesses,                                         \
   .epoch = EpochStep::epoch_,                                                                \
   .access = FileAccess::access_ __VA_OPT__(, ) __VA_ARGS__},
#include "meanings.inc"
#include "source_meanings.inc"
#undef TARE_MEANING
};
static_assert(sizeof meanings == (function_count + 1) * sizeof(FunctionMeaning));

}  // namespace

const FunctionMeaning& meaning_of(unsigned number) noexcept { return meanings[number <= function_count ? number : 0]; }

}  // namespace tare::format
