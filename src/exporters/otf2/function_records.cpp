#include "exporters/otf2/function_records.h"

#include <unordered_map>

#include "format/function_meaning.h"

namespace tare::exporters::otf2 {

using format::CallClass;
using format::Waits;

OTF2_RegionRole role_of(std::uint16_t function) {
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  switch (meaning.kind) {
    case CallClass::send:
    case CallClass::receive:
    case CallClass::exchange:
    case CallClass::probe:
    case CallClass::start:
    case CallClass::completion:
    case CallClass::request:
      return OTF2_REGION_ROLE_POINT2POINT;
    case CallClass::one_sided:
    case CallClass::epoch:
      return OTF2_REGION_ROLE_RMA;
    case CallClass::file:
      return OTF2_REGION_ROLE_FILE_IO;
    case CallClass::collective:
      if (meaning.waits == Waits::root) return OTF2_REGION_ROLE_COLL_ONE2ALL;
      if (meaning.waits == Waits::at_root) return OTF2_REGION_ROLE_COLL_ALL2ONE;
      if (meaning.waits == Waits::all || meaning.waits == Waits::contributors) return OTF2_REGION_ROLE_COLL_ALL2ALL;
      return OTF2_REGION_ROLE_COLL_OTHER;
    default:
      return OTF2_REGION_ROLE_FUNCTION;
  }
}

std::optional<OTF2_CollectiveOp> collective_op_of(std::uint16_t function) {
  using format::Operation;
  static const std::unordered_map<Operation, OTF2_CollectiveOp> ops{
      {Operation::barrier, OTF2_COLLECTIVE_OP_BARRIER},
      {Operation::broadcast, OTF2_COLLECTIVE_OP_BCAST},
      {Operation::gather, OTF2_COLLECTIVE_OP_GATHER},
      {Operation::gatherv, OTF2_COLLECTIVE_OP_GATHERV},
      {Operation::scatter, OTF2_COLLECTIVE_OP_SCATTER},
      {Operation::scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
      {Operation::allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
      {Operation::allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
      {Operation::alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
      {Operation::alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
      {Operation::alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
      {Operation::allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
      {Operation::reduce, OTF2_COLLECTIVE_OP_REDUCE},
      {Operation::reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
      {Operation::reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
      {Operation::scan, OTF2_COLLECTIVE_OP_SCAN},
      {Operation::exscan, OTF2_COLLECTIVE_OP_EXSCAN}};
  const format::FunctionMeaning& meaning = format::meaning_of(function);
  if (meaning.kind != CallClass::collective || meaning.form == format::CallForm::persistent) return std::nullopt;
  if (meaning.makes_communicator && meaning.waits == Waits::all) return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  if (meaning.frees_communicator) return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
  const auto found = ops.find(meaning.operation);
  return found == ops.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tare::exporters::otf2
