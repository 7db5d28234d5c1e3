#include "io/tokens/token_spool.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/tokens/token_bytes.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail(std::filesystem::path const& place, char const* what, int error) {
  throw Error(Status::storage,
              fmt::format("{}: tokens cannot be {} a temporary file here: {}", place.string(), what,
                          error ? error_text(error) : "it has become shorter"));
}

}  // namespace

TokenSpool::TokenSpool(std::filesystem::path directory, std::int64_t vocab)
    : m_place(std::move(directory)),
      m_token_bytes(smallest_bytes(vocab)),
      m_file(open_without_name(m_place)) {
  if (!m_file) fail(m_place, "written to", errno);
}

TokenSpool::TokenSpool(std::filesystem::path file, std::int64_t vocab, std::int64_t count)
    : m_place(std::move(file)),
      m_token_bytes(smallest_bytes(vocab)),
      m_file(::open(m_place.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode)),
      m_count(count) {
  if (!m_file) fail(m_place, "written to", errno);
  if (count < 0 || size_bytes(m_file, m_place) / m_token_bytes < count)
    fail(m_place, "read from", 0);
}

void TokenSpool::sync() const {
  if (::fdatasync(m_file.get()) != 0) fail(m_place, "written to", errno);
}

void TokenSpool::append(std::span<std::int32_t const> tokens) {
  auto const bytes = narrow(tokens, m_token_bytes);
  auto const put = write_fully(m_file.get(), bytes, m_count * m_token_bytes);
  if (put.done_bytes != std::ssize(bytes)) fail(m_place, "written to", put.error);
  m_count += std::ssize(tokens);
}

std::size_t TokenSpool::read(std::int64_t first, std::span<std::int32_t> tokens) const {
  auto const rest = static_cast<std::size_t>(m_count - first);
  auto const piece = tokens.first(std::min(tokens.size(), rest));
  std::vector<std::byte> bytes(piece.size() * static_cast<std::size_t>(m_token_bytes));
  auto const got = read_fully(m_file.get(), bytes, first * m_token_bytes);
  if (got.done_bytes != std::ssize(bytes)) fail(m_place, "read from", got.error);
  widen(bytes.data(), m_token_bytes, piece);
  return piece.size();
}

}  // namespace spillway
