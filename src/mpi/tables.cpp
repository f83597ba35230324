#include "mpi/dispatch.h"
#include "mpi/inside.h"
#include "mpi/requests.h"
#include "mpi/sampling/sampler.h"
#include "mpi/site.h"
#include "mpi/thread.h"
#include "recorder/process.h"

namespace tare::mpi {

extern const Tables mpich_tables;
extern const Tables openmpi_tables;
extern const Tables standard_tables;

const Tables* tables_for(format::Abi abi) noexcept {
  switch (abi) {
    case format::Abi::mpich:
      return &mpich_tables;
    case format::Abi::openmpi:
      return &openmpi_tables;
    case format::Abi::standard:
      return &standard_tables;
    case format::Abi::none:
      break;
  }
  return nullptr;
}

namespace {

void in_forked_child() noexcept {
  forget_sites();
  requests.after_fork();
  sampling::sampler.after_fork();
  tare_inside = 0;
}

}  // namespace
}  // namespace tare::mpi

tare::recorder::Options tare::recorder::default_options() noexcept {
  // A quarter of them is enough for every function (Location::new_row).
  constexpr std::uint32_t rows = 2816;
  static_assert(rows / 4 > tare::format::function_count && rows <= tare::format::index_slots * 3 / 4);
  return {sizeof(tare::mpi::Thread),
          rows,
          true,
          tare::mpi::sampling_asked() ? tare::mpi::sample_classes : 0,
          tare::mpi::begin_paths,
          [](tare::recorder::Location& location) noexcept { static_cast<tare::mpi::Thread&>(location).polls.forget(); },
          [](tare::recorder::Location&) noexcept { tare::mpi::leave(); },
          [](tare::recorder::Location&) noexcept { tare::mpi::is_inside(TARE_CALLER); },
          [](const char* spec) noexcept { return tare::mpi::sampling::sampler.change(spec); },
          tare::mpi::in_forked_child};
}
