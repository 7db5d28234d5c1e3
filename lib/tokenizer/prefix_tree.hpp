// A PrefixTree finds which texts of a set another text begins with; only for this folder's sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

class PrefixTree {
 public:
  using Entry = std::pair<std::string, std::int32_t>;
  // `entries` have a value each, which is not negative. Of equal texts the last one holds. Empty
  // texts are left out.
  explicit PrefixTree(std::vector<Entry> entries = {});

  // Calls found(bytes, value) for each text of the set with which `text` begins, from the shortest
  // to the longest.
  template <class Found>
  void each_prefix(std::string_view text, Found const& found) const {
    std::int32_t node = 0;
    for (std::size_t bytes = 0; bytes < text.size();) {
      node = child(node, static_cast<unsigned char>(text[bytes]));
      if (node < 0) return;
      ++bytes;
      if (m_nodes[static_cast<std::size_t>(node)].value >= 0)
        found(bytes, m_nodes[static_cast<std::size_t>(node)].value);
    }
  }

 private:
  struct Node {
    std::int32_t children = 0;  // the first one's number; siblings follow each other
    std::int32_t value = -1;
    std::uint16_t child_count = 0;
    unsigned char byte = 0;  // with which its parent leads to it
  };

  std::int32_t child(std::int32_t node, unsigned char byte) const;

  std::vector<Node> m_nodes{Node{}};
};

}  // namespace spillway
