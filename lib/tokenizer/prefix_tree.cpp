#include "tokenizer/prefix_tree.hpp"

#include <algorithm>
#include <span>

namespace spillway {
namespace {

// A Range is the entries, sorted, that one node leads to: all begin with the same `depth` bytes.
struct Range {
  std::size_t begin, end, depth;
};

}  // namespace

PrefixTree::PrefixTree(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::first);
  std::vector<Range> ranges{{0, entries.size(), 0}};
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [at, end, depth] = ranges[node];
    for (; at < end && entries[at].first.size() == depth; ++at)
      if (depth > 0) m_nodes[node].value = entries[at].second;
    m_nodes[node].children = static_cast<std::int32_t>(m_nodes.size());
    while (at < end) {
      auto const byte = static_cast<unsigned char>(entries[at].first[depth]);
      auto const begin = at;
      while (at < end && static_cast<unsigned char>(entries[at].first[depth]) == byte) ++at;
      m_nodes.push_back({.byte = byte});
      ++m_nodes[node].child_count;
      ranges.push_back({begin, at, depth + 1});
    }
  }
}

std::int32_t PrefixTree::child(std::int32_t node, unsigned char byte) const {
  auto const& parent = m_nodes[static_cast<std::size_t>(node)];
  auto const children =
      std::span(m_nodes).subspan(static_cast<std::size_t>(parent.children), parent.child_count);
  auto const found = std::ranges::lower_bound(children, byte, {}, &Node::byte);
  if (found == children.end() || found->byte != byte) return -1;
  return parent.children + static_cast<std::int32_t>(found - children.begin());
}

}  // namespace spillway
