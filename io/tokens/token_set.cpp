#include "io/tokens/token_set.hpp"

#include <fmt/core.h>
#include <glob.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "io/tokens/used_tokenizer.hpp"

namespace spillway {
namespace {

std::string literal(std::string const& text) {
  std::string pattern;
  for (char const c : text) pattern += (std::strchr("\\*?[", c) ? "\\" : "") + std::string(1, c);
  return pattern;
}

// Returns a glob for a path. As much of the path as exists with its own spelling is taken
// literally, so "runs [1]/*.h5" means the folder "runs [1]" if there is one.
std::string pattern_of(std::filesystem::path const& path) {
  std::filesystem::path there;
  std::error_code ignored;  // a path that cannot be examined matches nothing
  auto part = path.begin();
  for (; part != path.end(); ++part) {
    if (!std::filesystem::exists(symlink_status(there / *part, ignored))) break;
    there /= *part;
  }
  std::filesystem::path pattern = literal(there.string());
  for (; part != path.end(); ++part) pattern /= *part;
  return pattern.string();
}

}  // namespace

std::vector<std::string> matching(std::string const& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern_of(pattern).c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

bool names_files(std::span<std::string const> patterns) {
  return std::ranges::any_of(patterns, [](auto const& one) { return !matching(one).empty(); });
}

std::vector<TokenFile> open_matching(std::string const& key,
                                     std::span<std::string const> patterns) {
  std::vector<TokenFile> files;
  for (auto const& pattern : patterns) {
    auto const paths = matching(pattern);
    if (paths.empty()) {
      throw Error(Status::bad_input, fmt::format("{}: no file matches {}", key, pattern));
    }
    for (auto const& path : paths) files.emplace_back(path);
  }
  return files;
}

TokenSet::TokenSet(std::string const& key, std::span<std::string const> patterns)
    : TokenSet(open_matching(key, patterns), key) {}

TokenSet TokenSet::of_files(std::string const& key, std::vector<TokenFile> files) {
  return {std::move(files), key};
}

TokenSet::TokenSet(std::vector<TokenFile> files, std::string const& key)
    : m_files(std::move(files)) {
  if (m_files.empty()) throw Error(Status::bad_input, key + ": names no token file");
  m_starts.push_back(0);
  for (auto const& file : m_files) {
    if (file.vocab() != vocab()) {
      throw Error(Status::bad_input, fmt::format("{}: {} has a vocabulary of {}, {} one of {}", key,
                                                 m_files.front().path().string(), vocab(),
                                                 file.path().string(), file.vocab()));
    }
    auto const& first = m_files.front();
    require_same_tokenizer(fmt::format("{}: {}", key, file.path().string()),
                           tokenizer_of(file.layout()), first.path().string(),
                           tokenizer_of(first.layout()));
    m_starts.push_back(m_starts.back() + file.count());
  }
}

// Returns the index of the last file that starts at or before `token`. No file is empty, so no two
// files start at one token.
std::size_t TokenSet::file_of(std::int64_t token) const {
  check(token >= 0, "token set", "asked for the file of a negative token");
  auto const after = std::upper_bound(m_starts.begin(), m_starts.end(), token);
  return static_cast<std::size_t>(after - m_starts.begin()) - 1;
}

template <class Element, class Read>
void TokenSet::read_files(std::int64_t first, std::span<Element> to, Read const& read_file) const {
  if (first < 0 || std::ssize(to) > count() - first)
    throw std::logic_error("token set: read beyond its tokens");
  for (auto file = file_of(first); !to.empty(); ++file) {
    auto const rest = static_cast<std::size_t>(m_starts[file + 1] - first);
    auto const piece = to.first(std::min(to.size(), rest));
    read_file(m_files[file], first - m_starts[file], piece);
    first += static_cast<std::int64_t>(piece.size());
    to = to.subspan(piece.size());
  }
}

void TokenSet::read(std::int64_t first, std::span<std::int32_t> to) const {
  read_files(first, to, [](TokenFile const& file, std::int64_t at, std::span<std::int32_t> part) {
    file.read(at, part);
  });
}

bool TokenSet::has_mask() const {
  return std::ranges::any_of(m_files, &TokenFile::has_mask);
}

void TokenSet::read_mask(std::int64_t first, std::span<std::uint8_t> to) const {
  read_files(first, to, [](TokenFile const& file, std::int64_t at, std::span<std::uint8_t> part) {
    if (file.has_mask())
      file.read_mask(at, part);
    else
      std::ranges::fill(part, std::uint8_t{1});
  });
}

void TokenSet::append_document_starts(std::int64_t first, std::int64_t end,
                                      std::vector<std::int64_t>& to) const {
  first = std::max(first, std::int64_t{0});
  for (auto file = file_of(first); file < m_files.size() && m_starts[file] < end; ++file) {
    auto const begin = m_starts[file];
    auto const before = to.size();
    m_files[file].append_document_starts(std::max(first - begin, std::int64_t{0}), end - begin, to);
    for (auto& start : std::span(to).subspan(before)) start += begin;
  }
}

}  // namespace spillway
