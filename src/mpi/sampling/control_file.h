// The file RUN/sample. With it the user changes the spec while the program runs.
#pragma once

#include <cstdint>

#include "mpi/sampling/node.h"

namespace tare::mpi::sampling {

class ControlFile {
 public:
  // Whether this rank is to read the file now. Once a second, one rank of a node looks at the file, and the others read
  // its version from the node's memory. `node`: nullptr until the rank has joined that memory.
  bool is_due(Node* node) noexcept;

  // If the file has changed, passes its first line to `change`, which returns nullptr or an error message. An error
  // message is printed on stderr, once for each node.
  template <class Change>
  void look(Node* node, Change change) noexcept {
    char text[max_bytes];
    const char* wrong = nullptr;
    if (!read(node, text, wrong)) return;
    if (wrong == nullptr) wrong = change(static_cast<const char*>(text));
    if (wrong != nullptr) warn(node, wrong);
  }

 private:
  static constexpr unsigned max_bytes = 4096;
  bool read(Node* node, char (&text)[max_bytes], const char*& wrong) noexcept;
  void warn(Node* node, const char* wrong) const noexcept;

  std::uint64_t looked_ns_ = 0;
  std::uint64_t version_ = 0;  // of what was read last; 0: nothing was read
};

}  // namespace tare::mpi::sampling
