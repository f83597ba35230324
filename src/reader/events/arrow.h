// Arrow arrays, and their transfer through Arrow's C data interface, without copies and without a dependency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tare/arrow.h"

namespace tare::reader::arrow {

// Memory of the arrays of one batch. It returns to its pool when the last array is released, so a consumer that reads
// batch by batch uses the same pages again.
class Arena {
 public:
  class Pool;
  static std::shared_ptr<Pool> make_pool();

  explicit Arena(std::shared_ptr<Pool> pool);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Memory for `count` values, which is not initialised. It is aligned and padded as the Arrow specification
  // recommends. Throws std::bad_alloc.
  template <typename T>
  T* allocate(std::size_t count) {
    return static_cast<T*>(bytes(count * sizeof(T)));
  }

 private:
  void* bytes(std::size_t size);

  std::shared_ptr<Pool> pool_;
  std::vector<char*> blocks_;
  std::vector<char*> large_;
  std::size_t used_ = 0;  // of the last block
};

enum class Type : std::uint8_t { boolean, int32, int64, uint64, float64, utf8, dictionary, list, structure };

// Memory and its owner; static memory has no owner.
struct Buffer {
  const void* data = nullptr;
  std::shared_ptr<const void> owner{};
};

struct Array {
  std::size_t length = 0;
  std::int64_t nulls = 0;  // -1: not counted
  Buffer validity;         // nullptr: no value is null
  Buffer values;           // for utf8 and lists: the offsets
  Buffer contents;         // for utf8: the characters
  std::vector<Array> children{};
  std::shared_ptr<const Array> dictionary{};
};

struct Field {
  std::string name;
  Type type;
  bool nullable = true;
  std::vector<Field> children{};              // for lists (one child) and structures
  std::shared_ptr<const Array> dictionary{};  // for dictionaries: the texts, which are the same in all batches
};
using Schema = std::vector<Field>;

// Texts to which columns refer by number. Equal texts have the same number.
class Dictionary {
 public:
  std::int32_t number_of(std::string_view text);   // adds the text if it is new
  std::int32_t find(std::string_view text) const;  // the text must have been added
  std::shared_ptr<const Array> array() const;      // a copy of the texts so far

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

// Makes valid UTF-8, as Arrow requires it. Other bytes become escapes like "\\xff".
std::string as_utf8(std::string_view bytes);

// An array of texts that owns its memory.
Array text_array(const std::vector<std::string>& texts);

// Exports a table as a stream of batches. `next` fills an array for each field and returns the number of rows, 0 at the
// end. An exception that it throws becomes the error of the stream.
using Next = std::function<std::size_t(std::vector<Array>& columns)>;
void export_stream(Schema schema, Next next, ArrowArrayStream& out);

// Exports the schema that such a stream has. Dictionaries may be missing.
void export_schema(Schema schema, ArrowSchema& out);

}  // namespace tare::reader::arrow
