#include "io/tokens/collected_tokens.hpp"

#include <algorithm>
#include <utility>

namespace spillway {
namespace {

constexpr std::int64_t kHalf = std::int64_t{1} << 32;  // of a start

}  // namespace

CollectedTokens::CollectedTokens(std::filesystem::path directory, std::int64_t vocab,
                                 std::int32_t const* separator)
    : m_directory(std::move(directory)), m_tokens(m_directory, vocab), m_separator(separator) {}

CollectedTokens::CollectedTokens(UnfinishedTokens& before, std::int64_t vocab,
                                 std::int32_t const* separator)
    : m_unfinished(&before),
      m_tokens(before.file("tokens"), vocab, before.counts().tokens),
      m_separator(separator) {
  auto const& counts = before.counts();
  m_kept_starts.emplace(before.file("starts"), kHalf, 2 * counts.starts);
  if (counts.has_mask) m_mask.emplace(before.file("mask"), 2, counts.tokens);
  read_starts(counts.starts);
  m_begin = counts.begin;
  m_learned = counts.learned;
  m_empty_files = counts.empty_files;
  m_empty_records = counts.empty_records;
  m_jobs = counts.jobs;
  m_file_bytes = counts.file_bytes;
}

void CollectedTokens::read_starts(std::int64_t count) {
  std::vector<std::int32_t> halves(static_cast<std::size_t>(2 * count));
  m_kept_starts->read(0, halves);
  for (std::size_t i = 0; i < halves.size(); i += 2)
    m_starts.push_back(static_cast<std::int64_t>(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(halves[i + 1])) << 32 |
        static_cast<std::uint32_t>(halves[i])));
}

void CollectedTokens::keep_starts() {
  std::vector<std::int32_t> halves;
  for (auto i = static_cast<std::size_t>(m_kept_starts->count() / 2); i < m_starts.size(); ++i) {
    auto const start = static_cast<std::uint64_t>(m_starts[i]);
    halves.push_back(static_cast<std::int32_t>(start & 0xffffffff));
    halves.push_back(static_cast<std::int32_t>(start >> 32));
  }
  m_kept_starts->append(halves);
}

void CollectedTokens::keep() {
  keep_starts();
  m_tokens.sync();
  m_kept_starts->sync();
  if (m_mask) m_mask->sync();
  m_unfinished->keep({m_jobs, m_file_bytes, m_tokens.count(), std::ssize(m_starts), m_begin,
                      m_learned, m_mask.has_value(), m_empty_files, m_empty_records});
}

void CollectedTokens::add(EncodedJob const& done) {
  ++m_jobs;
  m_file_bytes += done.job.file_bytes;
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
  if (m_unfinished != nullptr)
    m_mask.emplace(m_unfinished->file("mask"), 2, 0);
  else
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
