#include "io/texts/record_blocks.hpp"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/texts/record_scanners.hpp"

namespace spillway {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf", kBlanks = " \t\r\n";

}  // namespace

RecordBlocks::RecordBlocks(std::unique_ptr<ByteSource> source, TextFormat format,
                           std::filesystem::path path)
    : m_source(std::move(source)), m_format(format), m_path(std::move(path)) {}

bool RecordBlocks::read_more(std::string& text, std::size_t bytes) {
  auto const before = text.size();
  text.resize(before + bytes);
  auto const got = m_source->read(std::as_writable_bytes(std::span(text).subspan(before)));
  text.resize(before + got);
  return got > 0;
}

void RecordBlocks::begin(std::string& text) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  auto const first = text.find_first_not_of(kBlanks);
  bool const has_lines = m_format == TextFormat::jsonl || first == text.npos || text[first] == '{';
  m_scanner = has_lines ? scan_lines() : scan_list(m_path);
}

RecordBlock RecordBlocks::next(std::size_t bytes) {
  RecordBlock block;
  auto& [text, records] = block;
  text = std::exchange(m_rest, "");
  while (records.empty() && !m_is_at_end) {
    auto from = text.size();
    m_is_at_end = !read_more(text, bytes);
    if (!m_scanner) begin(text), from = 0;
    m_scanner->scan(text, from, records);
    if (m_is_at_end) m_scanner->end(text, records);
    if (records.empty() && text.size() > kMostRecordBytes)
      throw Error(Status::bad_input, fmt::format("{}: has a record of more than {}",
                                                 m_path.string(), human_bytes(kMostRecordBytes)));
  }
  m_rest = text.substr(m_scanner ? m_scanner->rest() : text.size());
  if (m_scanner) m_scanner->drop(text.size() - m_rest.size());
  return block;
}

}  // namespace spillway
