#include "tokenizer/merges.hpp"

#include <algorithm>
#include <compare>
#include <queue>

namespace spillway {
namespace {

constexpr std::int32_t kNone = -1;

// A Symbol is one of the ids of a word, in a list from which joined ones are taken out.
struct Symbol {
  std::int32_t id;  // kNone if it has been joined to the one before it
  std::int32_t before, after;
};

struct Candidate {
  std::int32_t rank, at, joined;
  // A priority queue has the largest one on top.
  bool operator<(Candidate const& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

class Joining {
 public:
  Joining(Merges const& merges, std::vector<std::int32_t> const& ids) : m_merges(merges) {
    auto const count = static_cast<std::int32_t>(ids.size());
    m_symbols.reserve(ids.size());
    for (std::int32_t i = 0; i < count; ++i)
      m_symbols.push_back({ids[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : kNone});
    for (std::int32_t i = 0; i + 1 < count; ++i) consider(i);
  }

  void run() {
    while (!m_queue.empty()) {
      auto const top = m_queue.top();
      m_queue.pop();
      auto const* const merge = merge_at(top.at);
      if (merge == nullptr || merge->joined != top.joined) continue;  // others were joined since
      join(top.at, top.joined);
    }
  }

  void append_ids(std::vector<std::int32_t>& ids) const {
    for (auto const& symbol : m_symbols)
      if (symbol.id != kNone) ids.push_back(symbol.id);
  }

 private:
  Symbol& symbol(std::int32_t at) { return m_symbols[static_cast<std::size_t>(at)]; }

  Merge const* merge_at(std::int32_t at) {
    auto const& left = symbol(at);
    if (left.id == kNone || left.after == kNone) return nullptr;
    return m_merges.find(left.id, symbol(left.after).id);
  }

  void consider(std::int32_t at) {
    if (auto const* const merge = merge_at(at)) m_queue.push({merge->rank, at, merge->joined});
  }

  void join(std::int32_t at, std::int32_t joined) {
    auto& left = symbol(at);
    auto& right = symbol(left.after);
    left.id = joined;
    left.after = right.after;
    right.id = kNone;
    if (left.after != kNone) symbol(left.after).before = at;
    if (left.before != kNone) consider(left.before);
    consider(at);
  }

  Merges const& m_merges;
  std::vector<Symbol> m_symbols;
  std::priority_queue<Candidate> m_queue;
};

}  // namespace

void join_all(Merges const& merges, std::vector<std::int32_t>& ids) {
  if (ids.size() < 2) return;
  Joining joining(merges, ids);
  joining.run();
  ids.clear();
  joining.append_ids(ids);
}

}  // namespace spillway
