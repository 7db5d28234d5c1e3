#include "io/tokens/text_jobs.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "io/parquet/parquet.hpp"
#include "io/texts/input_kind.hpp"
#include "io/texts/record_blocks.hpp"

namespace spillway {
namespace {

// A table is known by its first bytes, too, as those that have names without endings in caches.
TextFormat format_of(std::filesystem::path const& path) {
  if (path != kStandardInput && begins_as_parquet(path)) return TextFormat::parquet;
  return kind_by_name(path).value_or(InputKind{}).format;
}

}  // namespace

std::optional<TextJob> TextJobs::next() {
  while (m_file < m_files.size()) {
    if (!m_text && !m_records) open();
    TextJob job;
    job.path = m_files[m_file].string();
    job.has_records = m_records != nullptr;
    if (m_text) {
      cut_text(job);
      return job;
    }
    if (has_next_records(job)) return job;
  }
  return {};
}

void TextJobs::open() {
  auto const& path = m_files[m_file];
  auto const format = m_format.value_or(format_of(path));
  if (format == TextFormat::parquet && path == kStandardInput)
    throw Error(Status::bad_input, "-: a table of Parquet is not read from stdin: give the file");
  if (format == TextFormat::parquet)
    m_records = open_parquet(path);
  else if (format == TextFormat::text)
    m_text = open_bytes(path);
  else
    m_records = std::make_unique<RecordBlocks>(open_bytes(path), format, path);
}

bool TextJobs::has_next_records(TextJob& job) {
  auto const before = m_records->file_bytes();
  job.block = m_records->next(m_job_bytes);
  job.file_bytes = m_records->file_bytes() - before;
  if (!job.block.records.empty()) return true;
  ++m_file;
  m_records.reset();
  return false;
}

void TextJobs::cut_text(TextJob& job) {
  auto const read_before = m_text->file_bytes();
  auto& text = job.block.text;
  text = std::exchange(m_rest, "");
  while (!job.ends_document) {
    auto const before = text.size();
    text.resize(before + m_job_bytes);
    auto const bytes = m_text->read(std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + bytes);
    job.ends_document = bytes == 0;
    if (job.ends_document) break;
    // What was read before has no place to cut, unless with what has come behind it.
    auto const begin = before - std::min<std::size_t>(before, 2);
    auto const cut = m_tokenizer.last_cut(std::string_view(text).substr(begin));
    if (cut == 0) continue;
    m_rest = text.substr(begin + cut);
    text.resize(begin + cut);
    break;
  }
  job.file_bytes = m_text->file_bytes() - read_before;
  if (!job.ends_document) return;
  ++m_file;
  m_text.reset();
}

}  // namespace spillway
