// RecordBlocks cut a file of JSON into its records. What a record says is not looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/texts/byte_source.hpp"
#include "io/texts/input_kind.hpp"
#include "io/texts/record_source.hpp"

namespace spillway {

// A RecordScanner finds records in text that comes bit by bit.
class RecordScanner {
 public:
  virtual ~RecordScanner() = default;
  // Appends the records that end in `text`, of which the bytes before `from` have been scanned.
  virtual void scan(std::string_view text, std::size_t from, std::vector<RecordPlace>& to) = 0;
  // Appends what stands at the end of all. Throws Error(bad_input) if it is not complete.
  virtual void end(std::string_view text, std::vector<RecordPlace>& to) = 0;
  // Returns where the record begins that has not ended yet; the end of what was scanned if there is
  // none.
  virtual std::size_t rest() const = 0;
  // Says that the first `bytes` of the text are there no more.
  virtual void drop(std::size_t bytes) = 0;
};

class RecordBlocks final : public RecordSource {
 public:
  // `path` is for messages. A .json file has a list of records; one that begins with { has a record
  // on each line, as a .jsonl file. A byte order mark at the beginning is passed over.
  RecordBlocks(std::unique_ptr<ByteSource> source, TextFormat format, std::filesystem::path path);

  // Throws also Error(bad_input) that names a line which is too long, or where a list does not go
  // on.
  RecordBlock next(std::size_t bytes) override;
  std::int64_t file_bytes() const override { return m_source->file_bytes(); }

 private:
  bool read_more(std::string& text, std::size_t bytes);
  void begin(std::string& text);

  std::unique_ptr<ByteSource> m_source;
  TextFormat m_format;
  std::filesystem::path m_path;
  std::unique_ptr<RecordScanner> m_scanner;  // null until the first bytes were seen
  std::string m_rest;
  bool m_is_at_end = false;
};

}  // namespace spillway
