// Writes a small run into the directory argv[1], for native_test.py.
#include "reader/synthetic.h"

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
  write_file(
      std::string(argv[1]) + "/node.tare",
      functions_chunk() + process_chunk(process) +
          definitions_chunk(process, python_site_definition(1, "solve.py", "solve", 12) +
                                         communicator_definition(1, 2, "MPI_COMM_WORLD")) +
          profile_chunk(process, 0, {profile_row("MPI_Send", 1, 1, 100, 64)}, {{function_number("MPI_Wtime"), 3}}) +
          events_chunk(process, 0, 0, bytes_of(send) + bytes_of(bcast) + bytes_of(flush)));
}
