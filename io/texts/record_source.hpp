// A RecordSource gives the records of a file, some at a time, so that a file of any size needs
// little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

struct RecordPlace {
  std::size_t begin, end;  // of the block's text
  std::int64_t line;       // at which the record begins, or the row that it is, counted from 1
};

struct RecordBlock {
  std::string text;                  // JSON
  std::vector<RecordPlace> records;  // none is blank
};

inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30;

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // Returns the next records, about `bytes` of them or one that is longer; none at the end. Throws
  // Error that names the file: bad_input if it cannot be read or understood, damaged if it cannot
  // be unpacked.
  virtual RecordBlock next(std::size_t bytes) = 0;
  // Returns how many bytes of the file have been read, packed as they are there.
  virtual std::int64_t file_bytes() const = 0;
};

}  // namespace spillway
