#include "io/file/new_directory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <cerrno>
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

void require_absent(fs::path const& path) {
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

[[noreturn]] void refuse_held(fs::path const& path) {
  throw Error(Status::bad_input,
              fmt::format("{}: another process is writing it: wait for it, or choose another "
                          "directory",
                          path.string()));
}

// None where there is no directory of that name. Another process may have replaced it before the
// lock. A file system without locks tells nobody apart.
FileDescriptor lock_directory(fs::path const& path) {
  FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return directory;
  bool const is_held = ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (is_held || !is_named(directory, path)) refuse_held(path);
  return directory;
}

void remove_killed(fs::path const& path) {
  auto const lock = lock_directory(path);
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "cannot be removed", error);
}

}  // namespace

NewDirectory::NewDirectory(fs::path const& path)
    : m_path(without_slash(path)), m_unfinished(fs::path(m_path) += ".spillway-partial") {
  require_absent(m_path);
  remove_killed(m_unfinished);
  make_directories(m_unfinished);
  m_lock = lock_directory(m_unfinished);
  if (!m_lock) refuse_held(m_unfinished);  // another one took it for a killed one's
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
