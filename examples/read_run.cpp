// Prints a table of a run as CSV, with nothing but tare's reader: `read_run RUN [TABLE]`; without TABLE, the tables.
//
//   c++ -std=c++17 read_run.cpp $(pkg-config --cflags --libs tare-reader) -o read_run
//
// A program that uses an Arrow library needs none of what is below main(): arrow::ImportRecordBatchReader(&stream),
// nanoarrow's ArrowArrayStreamMove, DuckDB's and Polars' functions take the stream as it is.
#include <tare/reader.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

int print_rows(ArrowArrayStream& stream);

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: read_run RUN [TABLE]\n");
    return 2;
  }
  if (argc == 2) {
    size_t count = 0;
    const tare_reader_table* tables = tare_reader_tables(&count);
    for (size_t i = 0; i < count; ++i) std::printf("%s: %s\n", tables[i].name, tables[i].row);
    return 0;
  }
  tare_reader_run* run = tare_reader_open(argv[1], nullptr);
  ArrowArrayStream stream;
  if (run == nullptr || tare_reader_open_table(run, argv[2], &stream) != 0) {
    std::fprintf(stderr, "read_run: %s\n", tare_reader_error());
    tare_reader_close(run);
    return 1;
  }
  const int failed = print_rows(stream);
  stream.release(&stream);
  if (*tare_reader_warnings(run) != '\0') std::fprintf(stderr, "read_run: %s\n", tare_reader_warnings(run));
  tare_reader_close(run);
  return failed;
}

namespace {

bool is_set(const void* bits, int64_t at) { return (static_cast<const uint8_t*>(bits)[at / 8] >> at % 8 & 1) != 0; }

bool is_there(const ArrowArray& column, int64_t row) {
  return column.buffers[0] == nullptr || is_set(column.buffers[0], row + column.offset);
}

// Values lie behind the bitmap of what is there.
template <typename T>
T value(const ArrowArray& column, int64_t row) {
  return static_cast<const T*>(column.buffers[1])[row + column.offset];
}

// In quotes, as CSV wants it.
void print_text(const ArrowArray& texts, int64_t row) {
  const auto from = value<int32_t>(texts, row), to = value<int32_t>(texts, row + 1);
  const auto* bytes = static_cast<const char*>(texts.buffers[2]);
  std::putchar('"');
  for (int32_t at = from; at < to; ++at) {
    if (bytes[at] == '"') std::putchar('"');
    std::putchar(bytes[at]);
  }
  std::putchar('"');
}

// By the column's type, which Arrow writes as text. Lists stay empty.
void print_cell(const ArrowSchema& schema, const ArrowArray& column, int64_t row) {
  if (!is_there(column, row)) return;
  const std::string type = schema.format;
  if (schema.dictionary != nullptr)
    print_text(*column.dictionary, value<int32_t>(column, row));
  else if (type == "u")
    print_text(column, row);
  else if (type == "i")
    std::printf("%" PRId32, value<int32_t>(column, row));
  else if (type == "l")
    std::printf("%" PRId64, value<int64_t>(column, row));
  else if (type == "g")
    std::printf("%.17g", value<double>(column, row));
  else if (type == "b")
    std::fputs(is_set(column.buffers[1], row + column.offset) ? "true" : "false", stdout);
}

void print_batch(const ArrowSchema& schema, const ArrowArray& batch) {
  for (int64_t row = 0; row < batch.length; ++row) {
    for (int64_t column = 0; column < batch.n_children; ++column) {
      if (column > 0) std::putchar(',');
      print_cell(*schema.children[column], *batch.children[column], row);
    }
    std::putchar('\n');
  }
}

int print_rows(ArrowArrayStream& stream) {
  ArrowSchema schema;
  if (stream.get_schema(&stream, &schema) != 0) {
    std::fprintf(stderr, "read_run: %s\n", stream.get_last_error(&stream));
    return 1;
  }
  for (int64_t column = 0; column < schema.n_children; ++column)
    std::printf("%s%s", column > 0 ? "," : "", schema.children[column]->name);
  std::putchar('\n');
  int failed = 0;
  while (failed == 0) {
    ArrowArray batch;
    failed = stream.get_next(&stream, &batch);
    if (failed != 0 || batch.release == nullptr) break;
    print_batch(schema, batch);
    batch.release(&batch);
  }
  if (failed != 0) {
    const char* why = stream.get_last_error(&stream);
    std::fprintf(stderr, "read_run: %s\n", why != nullptr ? why : std::strerror(failed));
  }
  schema.release(&schema);
  return failed != 0 ? 1 : 0;
}

}  // namespace
