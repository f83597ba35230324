// Writes a small run into the directory argv[1], for native_test.py.
#include <bit>

#include "reader/testing/synthetic.h"

int main(int, char** argv) {
  using namespace tare;
  using namespace tare::reader::synthetic;
  const format::ProcessRecord process = process_record(1, format::ProcessState::exited);
  format::CallRecord send = call_record("MPI_Send", 1, 3000, 3100);
  send.peer = 0;
  send.tag = 9;
  send.bytes = 64;
  send.request = 5;
  format::CallRecord bcast = call_record("MPI_Bcast", 1, 4000, 4100);
  bcast.peer = 0;
  const format::FlushRecord flush{{format::flush, sizeof(format::FlushRecord) / 8}, 2, 5000, 5100, 99};
  using format::EventClass;
  using format::ParameterType;
  const std::string types =
      event_type_definition(1, EventClass::region, "solve", {ParameterType::u8}) +
      event_type_definition(2, EventClass::counter, "heap", {ParameterType::f64}, "bytes") +
      event_type_definition(3, EventClass::marker, "here") + event_type_definition(4, EventClass::phase, "setup") +
      event_type_definition(5, EventClass::regular, "step",
                            {ParameterType::i8, ParameterType::i32, ParameterType::u16, ParameterType::i64,
                             ParameterType::u64, ParameterType::f32, ParameterType::f64}) +
      event_type_definition(6, EventClass::packed, "pack") + event_type_definition(7, EventClass::raw, "note\xff");
  const std::uint64_t minus_one = UINT64_MAX;
  const std::string api = event_record(1, 6000, {1}) + event_record(2, 6001, {std::bit_cast<std::uint64_t>(2.5)}) +
                          event_record(3, 6002) + event_record(4, 6003, {0}) +
                          event_record(5, 6004,
                                       {minus_one, 0xffffffff, 65535, minus_one, minus_one,
                                        std::bit_cast<std::uint32_t>(1.5F), std::bit_cast<std::uint64_t>(-0.1)}) +
                          event_record(6, 6005, {3, minus_one}) + raw_event_record(7, 6006, "\xc3\xa4\xff") +
                          event_record(8, 6007, {9});
  write_file(
      std::string(argv[1]) + "/node.tare",
      functions_chunk() + process_chunk(process) +
          definitions_chunk(process, python_site_definition(1, "solve.py", "solve", 12) +
                                         communicator_definition(1, 2, "MPI_COMM_WORLD") + types) +
          profile_chunk(process, 0, {profile_row("MPI_Send", 1, 1, 100, 64)}, {{function_number("MPI_Wtime"), 3}}) +
          events_chunk(process, 0, 0, bytes_of(send) + bytes_of(bcast) + bytes_of(flush) + api));
}
