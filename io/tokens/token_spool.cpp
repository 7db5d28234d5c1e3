#include "io/tokens/token_spool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/error_text.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kTokenBytes = sizeof(std::int32_t);

[[noreturn]] void fail(std::filesystem::path const& directory, char const* what, int error) {
  throw Error(Status::storage,
              fmt::format("{}: tokens cannot be {} a temporary file here: {}", directory.string(),
                          what, error ? error_text(error) : "it has become shorter"));
}

}  // namespace

TokenSpool::TokenSpool(std::filesystem::path directory)
    : m_directory(std::move(directory)), m_file(open_without_name(m_directory)) {
  if (!m_file) fail(m_directory, "written to", errno);
}

void TokenSpool::append(std::span<std::int32_t const> tokens) {
  auto const put = write_fully(m_file.get(), std::as_bytes(tokens), m_count * kTokenBytes);
  if (put.done_bytes != std::ssize(tokens) * kTokenBytes)
    fail(m_directory, "written to", put.error);
  m_count += std::ssize(tokens);
}

std::size_t TokenSpool::read(std::int64_t first, std::span<std::int32_t> tokens) const {
  auto const rest = static_cast<std::size_t>(m_count - first);
  auto const piece = tokens.first(std::min(tokens.size(), rest));
  auto const got = read_fully(m_file.get(), std::as_writable_bytes(piece), first * kTokenBytes);
  if (got.done_bytes != std::ssize(piece) * kTokenBytes) fail(m_directory, "read from", got.error);
  return piece.size();
}

}  // namespace spillway
