// TextJobs divide the texts of files among threads: records are whole, and a document that is a
// file of its own is cut where its tokens are certainly parted. Only for this folder's sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/texts/byte_source.hpp"
#include "io/texts/input_kind.hpp"
#include "io/texts/record_source.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct TextJob {
  std::string path;
  bool has_records = false;
  RecordBlock block;            // without records: a part of a document
  bool ends_document = false;   // says whether that part is the last one
  std::int64_t file_bytes = 0;  // of the file, since the job before
};

class TextJobs {
 public:
  // Jobs have about `job_bytes` of text, or more where the tokenizer knows no place to cut. Without
  // a format, a file's name says which it has.
  TextJobs(std::vector<std::filesystem::path> files, std::optional<TextFormat> format,
           Tokenizer const& tokenizer, std::size_t job_bytes)
      : m_files(std::move(files)),
        m_format(format),
        m_tokenizer(tokenizer),
        m_job_bytes(job_bytes) {}

  // Returns the next job, one file behind the other; nothing at the end. Throws what ByteSource and
  // RecordSource throw.
  std::optional<TextJob> next();

 private:
  void open();
  bool has_next_records(TextJob& job);
  void cut_text(TextJob& job);

  std::vector<std::filesystem::path> m_files;
  std::optional<TextFormat> m_format;
  Tokenizer const& m_tokenizer;
  std::size_t m_job_bytes;
  std::size_t m_file = 0;                   // the number of the file that is open, or comes next
  std::unique_ptr<ByteSource> m_text;       // of that file, if it is one document
  std::unique_ptr<RecordSource> m_records;  // of that file, if it has records
  std::string m_rest;                       // what has been read behind the last cut
};

}  // namespace spillway
