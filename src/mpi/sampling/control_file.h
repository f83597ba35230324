// The file RUN/sample, in which the user asks for another spec while the program runs.
#pragma once

#include <cstdint>

#include "mpi/sampling/node.h"

namespace tare::mpi::sampling {

class ControlFile {
 public:
  // Whether this rank is to look at the file now. One rank of a node asks the file system, once a second; the others
  // ask its memory. `node`: nullptr as long as the rank has not met the others.
  bool is_due(Node* node) noexcept;

  // If the file has changed, hands its first line to `change`, which returns nullptr or what is wrong with it. The
  // latter is said on stderr, once for each node.
  template <class Change>
  void look(Node* node, Change change) noexcept {
    char text[most_bytes];
    const char* wrong = nullptr;
    if (!read(node, text, wrong)) return;
    if (wrong == nullptr) wrong = change(static_cast<const char*>(text));
    if (wrong != nullptr) complain(node, wrong);
  }

 private:
  static constexpr unsigned most_bytes = 4096;
  bool read(Node* node, char (&text)[most_bytes], const char*& wrong) noexcept;
  void complain(Node* node, const char* wrong) const noexcept;

  std::uint64_t looked_ns_ = 0;
  std::uint64_t version_ = 0;  // of what was read last; 0: nothing was
};

}  // namespace tare::mpi::sampling
