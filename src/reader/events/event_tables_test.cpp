#include "reader/events/event_tables.h"

#include <gtest/gtest.h>

#include "format/event_codec.h"
#include "reader/events/declared_tables.h"
#include "reader/testing/event_lines.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::CallRecord;
using format::EventClass;
using format::ParameterType;
using format::ProcessState;

// event_stream_test.cpp tests for each of its runs that the rows are those of EventStream.
class EventTablesTest : public ::testing::Test {
 protected:
  reader::Run open() {
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    return std::move(*run);
  }
  void write(const std::string& events) {
    const auto process = process_record(1, ProcessState::exited);
    const std::string log =
        site_definition(1, 0, 64) + communicator_definition(1, 2, "MPI_COMM_WORLD") + window_definition(2, 1, 77) +
        window_name(2, "halo") + file_definition(3, 1, 78, "out.dat") +
        event_type_definition(1, EventClass::regular, "step", {ParameterType::i32, ParameterType::f64}) +
        event_type_definition(2, EventClass::raw, "note") +
        event_type_definition(3, EventClass::counter, "load", {ParameterType::f64}, "W") +
        event_type_definition(4, EventClass::region, "solve", {ParameterType::u8});
    dir_.write("n.tare", functions_chunk() + process_chunk(process) + definitions_chunk(process, log) + events);
  }
  static std::string sends(std::uint64_t first_tick, unsigned count) {
    std::string records;
    for (unsigned i = 0; i < count; ++i) {
      CallRecord call = call_record("MPI_Send", 1, first_tick + i * 10, first_tick + i * 10 + 5);
      call.peer = static_cast<std::int32_t>(i % 2);
      call.communicator = 1;
      records += bytes_of(call);
    }
    return records;
  }
  static std::string chunk_of(std::uint32_t sequence, const std::string& records) {
    return events_chunk(process_record(1, ProcessState::exited), 0, sequence, records);
  }
  static std::vector<std::vector<std::string>> rows_of(TableStream& tables) {
    std::vector<std::vector<std::string>> rows;
    std::vector<arrow::Array> columns;
    for (std::size_t count = tables.next(columns); count != 0; count = tables.next(columns)) {
      for (std::size_t i = 0; i < count; ++i) {
        auto& row = rows.emplace_back();
        for (std::size_t k = 0; k < columns.size(); ++k)
          row.push_back(testing::text_of(tables.schema[k], columns[k], i));
      }
    }
    return rows;
  }

  TempDir dir_;
};

TEST_F(EventTablesTest, OnlyTheColumnsAskedFor) {
  write(chunk_of(0, sends(2000, 3)));
  auto run = open();
  auto tables = event_table(run, {}, std::vector<std::string>{"peer", "function", "start_ns"});
  ASSERT_TRUE(tables) << tables.error();
  ASSERT_EQ(tables->schema.size(), 3U);
  EXPECT_EQ(tables->schema[0].name, "start_ns") << "in the order of the table";
  const auto rows = rows_of(*tables);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"1700000000000002010", "'MPI_Send'", "1"}));
  const auto none = event_table(run, {}, std::vector<std::string>{"colour"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "events have no column colour");
}

TEST_F(EventTablesTest, ALimitCutsABatch) {
  write(chunk_of(0, sends(2000, 30)) + chunk_of(1, sends(3000, 30)));
  auto run = open();
  for (const std::uint64_t limit : {1U, 29U, 30U, 31U, 60U, 100U}) {
    auto tables = event_table(run, {{}, {}, {}, {}, limit});
    EXPECT_EQ(rows_of(*tables).size(), std::min<std::uint64_t>(limit, 60)) << limit;
  }
}

TEST_F(EventTablesTest, WhatTheProgramRecordedIsByClass) {
  const std::string records =
      event_record(1, 2000, {static_cast<std::uint64_t>(-7), std::bit_cast<std::uint64_t>(0.5)}) +
      event_record(3, 2010, {std::bit_cast<std::uint64_t>(2.5)}) + event_record(4, 2020, {1}) +
      event_record(9, 2030, {4}) + raw_event_record(2, 2040, "a\xff");
  write(chunk_of(0, records));
  auto run = open();
  const auto lines = testing::lines_of_tables(run, {});
  const std::string where = " world=0 rank=1 thread=0 ";
  const std::vector<std::string> expected = {
      "start_ns=1700000000000002000" + where +
          "kind='event' name='step' parameters=[-7 0.5 ] words=[18446744073709551609 4602678819172646912 ] ",
      "start_ns=1700000000000002010" + where + "kind='counter' name='load' value=2.5 unit='W' ",
      "start_ns=1700000000000002020" + where + "kind='region' name='solve' begin=true ",
      "start_ns=1700000000000002030" + where + "kind='packed' name='other' parameters=[4 ] words=[4 ] ",
      "start_ns=1700000000000002040" + where + "kind='raw' name='note' text='a\\xff' "};
  EXPECT_EQ(lines, expected);
}

TEST_F(EventTablesTest, WindowsAndFilesHaveTheirCommunicator) {
  CallRecord put = call_record("MPI_Put", 1, 2000, 2010);
  put.communicator = 2;
  CallRecord read = call_record("MPI_File_read", 1, 2020, 2030);
  read.communicator = 3;
  write(chunk_of(0, bytes_of(put) + bytes_of(read)));
  auto run = open();
  auto tables = event_table(
      run, {}, std::vector<std::string>{"communicator", "window", "window_key", "mpi_file", "mpi_file_key"});
  const auto rows = rows_of(*tables);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"'MPI_COMM_WORLD'", "'halo'", "'000000000000004d'", "", ""}));
  EXPECT_EQ(rows[1], (std::vector<std::string>{"'MPI_COMM_WORLD'", "", "", "'out.dat'", "'000000000000004e'"}));
}

// The last call of a chunk is kept back for its requests in the next chunk. If a chunk in between is lost, they belong
// to no call.
TEST_F(EventTablesTest, RequestsOfALostCallAreNoOnes) {
  const auto completed = [](std::uint32_t handle) {
    return bytes_of(format::CompletionRecord{{format::completion, 3}, handle, 8, 1, 9});
  };
  const std::string wait = bytes_of(call_record("MPI_Wait", 1, 2000, 2010));
  const std::string later = bytes_of(call_record("MPI_Wait", 1, 3000, 3010));
  for (const bool is_lost : {false, true}) {
    write(chunk_of(0, wait) + chunk_of(is_lost ? 2 : 1, completed(5) + later));
    auto run = open();
    auto tables = event_table(run, {}, std::vector<std::string>{"tag"});
    const auto rows = rows_of(*tables);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0][0], is_lost ? "" : "9");
    EXPECT_EQ(rows[1][0], "");
  }
}

TEST_F(EventTablesTest, DamageIsSteppedOver) {
  std::string damaged = chunk_of(1, sends(3000, 3));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write(chunk_of(0, sends(2000, 3)) + damaged + chunk_of(2, sends(4000, 3)));
  auto run = open();
  auto tables = event_table(run, {});
  EXPECT_EQ(rows_of(*tables).size(), 6U);
  ASSERT_EQ(tables->warnings().size(), 1U);
  EXPECT_NE(tables->warnings()[0].find("3 events were skipped"), std::string::npos) << tables->warnings()[0];
}

// Uses the C data interface as a consumer does. Batches outlive the stream and are released separately.
TEST_F(EventTablesTest, BatchesOutliveTheirStream) {
  write(chunk_of(0, sends(2000, 30)) + chunk_of(1, sends(3000, 30)));
  ArrowArray batches[2];
  ArrowSchema schema;
  {
    auto run = open();
    auto table = event_table(run, {});
    ArrowArrayStream stream;
    arrow::export_stream(table->schema, std::move(table->next), stream);
    ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
    for (ArrowArray& batch : batches) ASSERT_EQ(stream.get_next(&stream, &batch), 0);
    ArrowArray end;
    ASSERT_EQ(stream.get_next(&stream, &end), 0);
    EXPECT_EQ(end.release, nullptr);
    stream.release(&stream);
    EXPECT_EQ(stream.release, nullptr);
  }
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, static_cast<std::int64_t>(std::size(events_columns)));
  EXPECT_STREQ(schema.children[0]->name, "start_ns");
  schema.release(&schema);
  EXPECT_EQ(batches[0].length + batches[1].length, 60);
  // A consumer may take a column out, and release the rest.
  ArrowArray column = *batches[1].children[0];
  batches[1].children[0]->release = nullptr;
  for (ArrowArray& batch : batches) batch.release(&batch);
  EXPECT_EQ(static_cast<const std::int64_t*>(column.buffers[1])[0], 1'700'000'000'000'002'290);
  column.release(&column);
}

TEST_F(EventTablesTest, WhatIsThrownIsTheStreamsError) {
  ArrowArrayStream stream;
  arrow::export_stream(
      {}, [](std::vector<arrow::Array>&) -> std::size_t { throw std::runtime_error("no more"); }, stream);
  ArrowArray batch;
  EXPECT_NE(stream.get_next(&stream, &batch), 0);
  EXPECT_STREQ(stream.get_last_error(&stream), "no more");
  stream.release(&stream);
}

}  // namespace
}  // namespace tare::reader
