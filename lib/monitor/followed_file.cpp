#include "monitor/followed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace spillway {
namespace {

// The first row of metrics.jsonl tells when a run began, so that no two files begin alike.
constexpr std::int64_t kBeginningBytes = 256;
constexpr std::int64_t kMostBytesOfALook = 1 << 24;

// Returns the bytes of a file from an offset on, fewer where it ends or cannot be read.
std::string bytes_at(int file, std::int64_t offset_bytes, std::int64_t most_bytes) {
  std::string bytes(static_cast<std::size_t>(most_bytes), '\0');
  auto const read = read_fully(file, std::as_writable_bytes(std::span(bytes)), offset_bytes);
  bytes.resize(static_cast<std::size_t>(read.done_bytes));
  return bytes;
}

void append_lines(std::string_view text, std::vector<std::string>& lines) {
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

double seconds(timespec const& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void FollowedFile::forget() {
  m_read_bytes = 0;
  m_beginning.clear();
}

bool FollowedFile::is_another(int file, std::int64_t size_bytes) {
  if (m_read_bytes == 0) return false;
  if (size_bytes < m_read_bytes) return true;
  return bytes_at(file, 0, static_cast<std::int64_t>(m_beginning.size())) != m_beginning;
}

FollowedFile::News FollowedFile::look() {
  FileDescriptor const file(::open(m_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    News const news{m_read_bytes > 0, {}, false};
    forget();
    return news;
  }
  News news{is_another(file.get(), info.st_size), {}, false};
  if (news.begins_anew) forget();
  m_written_at_s = seconds(info.st_mtim);
  auto const left_bytes = info.st_size - m_read_bytes;
  auto text = bytes_at(file.get(), m_read_bytes, std::min(left_bytes, kMostBytesOfALook));
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  if (text.empty()) return news;
  if (m_read_bytes == 0) m_beginning = text.substr(0, kBeginningBytes);
  m_read_bytes += std::ssize(text);
  news.has_more = left_bytes > kMostBytesOfALook;
  append_lines(text, news.lines);
  return news;
}

}  // namespace spillway
