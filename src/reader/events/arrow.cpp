#include "reader/events/arrow.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "reader/utf8.h"

namespace tare::reader::arrow {
namespace {

constexpr std::size_t alignment = 64;  // as the specification recommends
constexpr std::size_t block_bytes = 256 << 10;
constexpr std::size_t max_kept = 64;  // blocks

char* new_block(std::size_t size) {
  auto* block = static_cast<char*>(std::aligned_alloc(alignment, size));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

const char* format_of(Type type) {
  switch (type) {
    case Type::boolean:
      return "b";
    case Type::int32:
    case Type::dictionary:  // of the indices
      return "i";
    case Type::int64:
      return "l";
    case Type::uint64:
      return "L";
    case Type::float64:
      return "g";
    case Type::utf8:
      return "u";
    case Type::list:
      return "+l";
    case Type::structure:
      break;
  }
  return "+s";
}

std::size_t buffers_of(Type type) { return type == Type::utf8 ? 3 : type == Type::structure ? 1 : 2; }

template <typename Released>
void release_if_any(Released& what) {
  if (what.release != nullptr) what.release(&what);
}

// The children of an exported array or schema, which owns them. A consumer may have moved some of them out.
template <typename Of>
struct Owned {
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    for (Of& child : children) release_if_any(child);
    if (dictionary) release_if_any(*dictionary);
  }

  std::string name;
  Array array;
  const void* pointers[3] = {};
  std::vector<Of> children;
  std::vector<Of*> child_pointers;
  std::optional<Of> dictionary;
};
using Arrays = Owned<ArrowArray>;
using Schemas = Owned<ArrowSchema>;

template <typename Of>
void release(Of* what) {
  delete static_cast<Owned<Of>*>(what->private_data);
  what->release = nullptr;
}

void export_field(const Field& field, ArrowSchema& out) {
  auto owned = std::make_unique<Schemas>();
  owned->name = field.name;
  owned->children.resize(field.children.size());
  for (std::size_t i = 0; i < field.children.size(); ++i) export_field(field.children[i], owned->children[i]);
  for (ArrowSchema& child : owned->children) owned->child_pointers.push_back(&child);
  if (field.type == Type::dictionary) export_field({"", Type::utf8, false}, owned->dictionary.emplace());
  out = {};
  out.format = format_of(field.type);
  out.name = owned->name.c_str();
  out.flags = field.nullable ? ARROW_FLAG_NULLABLE : 0;
  out.n_children = static_cast<std::int64_t>(owned->children.size());
  out.children = owned->child_pointers.data();
  out.dictionary = owned->dictionary ? &*owned->dictionary : nullptr;
  out.release = release<ArrowSchema>;
  out.private_data = owned.release();
}

void export_array(const Field& field, Array array, ArrowArray& out) {
  auto owned = std::make_unique<Arrays>();
  owned->children.resize(field.children.size());
  for (std::size_t i = 0; i < field.children.size(); ++i)
    export_array(field.children[i], std::move(array.children[i]), owned->children[i]);
  for (ArrowArray& child : owned->children) owned->child_pointers.push_back(&child);
  if (field.type == Type::dictionary)
    export_array({"", Type::utf8, false}, *field.dictionary, owned->dictionary.emplace());
  owned->array = std::move(array);
  owned->pointers[0] = owned->array.nulls == 0 ? nullptr : owned->array.validity.data;
  owned->pointers[1] = owned->array.values.data;
  owned->pointers[2] = owned->array.contents.data;
  out = {};
  out.length = static_cast<std::int64_t>(owned->array.length);
  out.null_count = owned->array.nulls;
  out.n_buffers = static_cast<std::int64_t>(buffers_of(field.type));
  out.buffers = owned->pointers;
  out.n_children = static_cast<std::int64_t>(owned->children.size());
  out.children = owned->child_pointers.data();
  out.dictionary = owned->dictionary ? &*owned->dictionary : nullptr;
  out.release = release<ArrowArray>;
  out.private_data = owned.release();
}

Field row_of(Schema schema) { return {"", Type::structure, false, std::move(schema)}; }

struct Stream {
  Field row;
  Next next;
  std::string error;
};

// Runs `work` and returns 0. If it throws, stores the message as the error of the stream and returns an errno value.
template <typename Work>
int guarded(ArrowArrayStream* stream, const Work& work) {
  Stream& state = *static_cast<Stream*>(stream->private_data);
  try {
    work(state);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& problem) {
    state.error = problem.what();
    return EIO;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded(stream, [out](Stream& state) { export_field(state.row, *out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded(stream, [out](Stream& state) {
    Array batch;
    batch.length = state.next(batch.children);
    *out = {};
    if (batch.length != 0) export_array(state.row, std::move(batch), *out);
  });
}

const char* stream_error(ArrowArrayStream* stream) {
  const std::string& error = static_cast<Stream*>(stream->private_data)->error;
  return error.empty() ? nullptr : error.c_str();
}

void stream_release(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

// Blocks that no batch uses. Consumers release batches in any thread.
class Arena::Pool {
 public:
  Pool() = default;
  ~Pool() {
    for (char* block : free_) std::free(block);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  char* take() {
    {
      const std::scoped_lock locked(lock_);
      if (!free_.empty()) {
        char* block = free_.back();
        free_.pop_back();
        return block;
      }
    }
    return new_block(block_bytes);
  }
  void give_back(char* block) {
    {
      const std::scoped_lock locked(lock_);
      if (free_.size() < max_kept) {
        free_.push_back(block);
        return;
      }
    }
    std::free(block);
  }

 private:
  std::mutex lock_;
  std::vector<char*> free_;
};

std::shared_ptr<Arena::Pool> Arena::make_pool() { return std::make_shared<Pool>(); }

Arena::Arena(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}

Arena::~Arena() {
  for (char* block : blocks_) pool_->give_back(block);
  for (char* block : large_) std::free(block);
}

void* Arena::bytes(std::size_t size) {
  size = (size + alignment - 1) / alignment * alignment;
  if (size > block_bytes) {
    large_.push_back(nullptr);
    return large_.back() = new_block(size);
  }
  if (blocks_.empty() || used_ + size > block_bytes) {
    blocks_.push_back(nullptr);
    blocks_.back() = pool_->take();
    used_ = 0;
  }
  char* at = blocks_.back() + used_;
  used_ += size;
  return at;
}

std::int32_t Dictionary::number_of(std::string_view text) {
  std::string utf8 = as_utf8(text);
  const auto [at, is_new] = numbers_.try_emplace(std::move(utf8), static_cast<std::int32_t>(texts_.size()));
  if (is_new) texts_.push_back(at->first);
  return at->second;
}

std::int32_t Dictionary::find(std::string_view text) const { return numbers_.at(as_utf8(text)); }

std::shared_ptr<const Array> Dictionary::array() const { return std::make_shared<Array>(text_array(texts_)); }

Array text_array(const std::vector<std::string>& texts) {
  struct Memory {
    std::vector<std::int32_t> offsets{0};
    std::string contents;
  };
  auto memory = std::make_shared<Memory>();
  for (const std::string& text : texts) {
    memory->contents += text;
    memory->offsets.push_back(static_cast<std::int32_t>(memory->contents.size()));
  }
  Array array;
  array.length = texts.size();
  array.values = {memory->offsets.data(), memory};
  array.contents = {memory->contents.data(), memory};
  return array;
}

std::string as_utf8(std::string_view bytes) {
  return escaped(bytes, [](std::uint32_t) { return true; });
}

void export_schema(Schema schema, ArrowSchema& out) { export_field(row_of(std::move(schema)), out); }

void export_stream(Schema schema, Next next, ArrowArrayStream& out) {
  out = {};
  out.get_schema = stream_schema;
  out.get_next = stream_next;
  out.get_last_error = stream_error;
  out.release = stream_release;
  out.private_data = new Stream{row_of(std::move(schema)), std::move(next), {}};
}

}  // namespace tare::reader::arrow
