#include "io/tokens/collected_tokens.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

CollectedTokens::CollectedTokens(std::filesystem::path directory, std::int64_t vocab,
                                 std::int32_t const* separator)
    : m_directory(std::move(directory)), m_tokens(m_directory, vocab), m_separator(separator) {}

void CollectedTokens::add(EncodedJob const& done) {
  auto const ids = std::span(done.made.ids);
  auto const learned = std::span(done.made.learned);
  std::size_t begin = 0;
  auto const append_until = [&](std::size_t end) {
    auto const mask = learned.empty() ? learned : learned.subspan(begin, end - begin);
    append(ids.subspan(begin, end - begin), mask);
    begin = end;
  };
  for (auto const& [end, is_ended] : done.made.ends) {
    append_until(end);
    end_document(done.job.has_records, is_ended);
  }
  append_until(ids.size());
}

// Without `learned` all are.
void CollectedTokens::append(std::span<std::int32_t const> ids,
                             std::span<std::uint8_t const> learned) {
  if (ids.empty()) return;
  if (!learned.empty() && !m_mask) begin_mask();
  m_tokens.append(ids);
  m_last = learned.empty() ? 1 : learned.back();
  if (!m_mask) return;
  std::vector<std::int32_t> mask(learned.begin(), learned.end());
  mask.resize(ids.size(), 1);
  m_mask->append(mask);
  m_learned += std::ranges::count(mask, 1);
}

void CollectedTokens::begin_mask() {
  m_mask.emplace(m_directory, 2);
  std::vector<std::int32_t> const ones(1 << 16, 1);
  m_learned = m_tokens.count();
  while (m_mask->count() < m_learned) {
    auto const left = static_cast<std::size_t>(m_learned - m_mask->count());
    m_mask->append(std::span(ones).first(std::min(left, ones.size())));
  }
}

// Two documents cannot begin at one token: one without a token is left out. A separator is learned
// as the token before it is.
void CollectedTokens::end_document(bool is_record, bool is_ended) {
  if (m_tokens.count() == m_begin) {
    ++(is_record ? m_empty_records : m_empty_files);
    return;
  }
  m_starts.push_back(m_begin);
  if (m_separator != nullptr && !is_ended) append({m_separator, 1}, {&m_last, m_mask ? 1u : 0u});
  m_begin = m_tokens.count();
}

}  // namespace spillway
