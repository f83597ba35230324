// Prints a table of a run as CSV, with nothing but tare's reader: `read_run RUN [TABLE]`; without TABLE, the tables.
//
//   c++ -std=c++17 read_run.cpp $(pkg-config --cflags --libs tare-reader) -o read_run
//
// A program that uses an Arrow library needs none of what is below main(): arrow::ImportRecordBatchReader(&stream),
// nanoarrow's ArrowArrayStreamMove, DuckDB's and Polars' functions take the stream as it is.
#include <tare/reader.h>

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

std::string quoted(const std::string& text, const char* quote) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? quote : std::string(1, c);
  return result + '"';
}

std::string text_of(const ArrowArray& texts, int64_t row) {
  const auto from = value<int32_t>(texts, row), to = value<int32_t>(texts, row + 1);
  return {static_cast<const char*>(texts.buffers[2]) + from, static_cast<const char*>(texts.buffers[2]) + to};
}

bool is_text(const ArrowSchema& schema) { return schema.dictionary != nullptr || std::strcmp(schema.format, "u") == 0; }

std::string cell(const ArrowSchema& schema, const ArrowArray& column, int64_t row);

// A value in a list, as JSON writes it.
std::string element(const ArrowSchema& schema, const ArrowArray& column, int64_t row) {
  if (!is_there(column, row)) return "null";
  return is_text(schema) ? quoted(cell(schema, column, row), "\\\"") : cell(schema, column, row);
}

// By the column's type, which Arrow writes as text. Lists are as in JSON: [1,2]; of what has fields: [{"request":1}].
std::string cell(const ArrowSchema& schema, const ArrowArray& column, int64_t row) {
  if (!is_there(column, row)) return "";
  const std::string type = schema.format;
  if (schema.dictionary != nullptr) return text_of(*column.dictionary, value<int32_t>(column, row));
  if (type == "u") return text_of(column, row);
  if (type == "i") return std::to_string(value<int32_t>(column, row));
  if (type == "l") return std::to_string(value<int64_t>(column, row));
  if (type == "L") return std::to_string(value<uint64_t>(column, row));
  if (type == "b") return is_set(column.buffers[1], row + column.offset) ? "true" : "false";
  if (type == "g") {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value<double>(column, row));
    return text;
  }
  std::string result;
  if (type == "+l") {
    for (auto at = value<int32_t>(column, row); at < value<int32_t>(column, row + 1); ++at)
      result += (result.empty() ? "" : ",") + element(*schema.children[0], *column.children[0], at);
    return "[" + result + "]";
  }
  for (int64_t i = 0; i < column.n_children; ++i)
    result += std::string(i > 0 ? "," : "") + '"' + schema.children[i]->name +
              "\":" + element(*schema.children[i], *column.children[i], row + column.offset);
  return "{" + result + "}";
}

void print_batch(const ArrowSchema& schema, const ArrowArray& batch) {
  for (int64_t row = 0; row < batch.length; ++row) {
    for (int64_t column = 0; column < batch.n_children; ++column) {
      if (column > 0) std::putchar(',');
      const ArrowSchema& of = *schema.children[column];
      const std::string text = cell(of, *batch.children[column], row);
      const bool is_quoted = is_text(of) || std::strcmp(of.format, "+l") == 0;  // as CSV wants it
      std::fputs(is_quoted && is_there(*batch.children[column], row) ? quoted(text, "\"\"").c_str() : text.c_str(),
                 stdout);
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
