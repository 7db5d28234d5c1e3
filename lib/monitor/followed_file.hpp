// A FollowedFile reads the lines that another process appends to a file, maybe on another machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/file/file.hpp"

namespace spillway {

class FollowedFile {
 public:
  explicit FollowedFile(std::filesystem::path path) : m_path(std::move(path)) {}

  struct News {
    bool begins_anew = false;  // earlier lines are gone: the file was removed, replaced or cut
    std::vector<std::string> lines;
    bool has_more = false;  // there are more lines, for which to look at once
  };
  // Returns whole lines that came since the last look. Of many it returns the first ones, so that a
  // large file takes little memory. A line without its end waits for it. The file is opened each
  // time, since only that makes a network file system ask its server. A file that is missing or
  // cannot be read has no news. Throws nothing.
  News look();

  // Returns when the file was last written, in seconds since 1970, or 0 if it was never seen.
  double written_at_s() const { return m_written_at_s; }

 private:
  bool is_another(int file, std::int64_t size_bytes);
  void forget();

  std::filesystem::path m_path;
  std::int64_t m_read_bytes = 0;  // up to the end of the last whole line
  std::string m_beginning;        // of the file, by which one that took its place is known
  double m_written_at_s = 0;
};

}  // namespace spillway
