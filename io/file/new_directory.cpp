#include "io/file/new_directory.hpp"

#include <fmt/core.h>

#include <system_error>

#include "base/error.hpp"
#include "io/file/file.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// "a/b/" is called b.
fs::path without_slash(fs::path const& path) {
  auto const plain = path.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

void require_free(fs::path const& path) {
  std::error_code unseen;  // what cannot be looked at cannot be written either
  auto const kind = fs::symlink_status(path, unseen).type();
  if (kind == fs::file_type::not_found || kind == fs::file_type::none) return;
  if (kind == fs::file_type::directory && fs::is_empty(path, unseen)) return;
  throw Error(Status::bad_input, fmt::format("{}: is there already: remove it, or choose another "
                                             "directory",
                                             path.string()));
}

[[noreturn]] void fail(fs::path const& path, char const* what, std::error_code const& error) {
  throw Error(Status::storage, fmt::format("{}: {}: {}", path.string(), what, error.message()));
}

}  // namespace

NewDirectory::NewDirectory(fs::path const& path)
    : m_path(without_slash(path)), m_unfinished(fs::path(m_path) += ".spillway-partial") {
  require_free(m_path);
  std::error_code error;
  fs::remove_all(m_unfinished, error);
  if (error) fail(m_unfinished, "cannot be removed", error);
  make_directories(m_unfinished);
}

NewDirectory::~NewDirectory() {
  std::error_code unseen;
  if (!m_published) fs::remove_all(m_unfinished, unseen);
}

void NewDirectory::publish() {
  sync_path(m_unfinished);
  std::error_code error;
  fs::rename(m_unfinished, m_path, error);
  if (error) fail(m_path, "cannot be given its name", error);
  m_published = true;
  sync_path(m_path.has_parent_path() ? m_path.parent_path() : ".");
}

}  // namespace spillway
