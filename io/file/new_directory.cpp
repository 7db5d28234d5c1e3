#include "io/file/new_directory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

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

// Whether a directory with something in it is there. Throws for what may not be replaced.
bool is_replaced(fs::path const& path, NewDirectory::MayReplace const& may_replace) {
  std::error_code unseen;  // what cannot be looked at cannot be written either
  auto const kind = fs::symlink_status(path, unseen).type();
  if (kind == fs::file_type::not_found || kind == fs::file_type::none) return false;
  if (kind == fs::file_type::directory && fs::is_empty(path, unseen)) return false;
  if (kind == fs::file_type::directory && may_replace && may_replace(path)) return true;
  throw Error(Status::bad_input,
              fmt::format("{}: is there already{}: remove it, or choose another directory{}",
                          path.string(), may_replace ? " and holds something else" : "",
                          may_replace ? "" : "; --force replaces one of the same kind"));
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

bool give_name(fs::path const& from, fs::path const& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

// So that `to` is there at every moment, where the file system can do it.
bool exchange(fs::path const& from, fs::path const& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return true;
  auto const aside = fs::path(from) += "-replaced";
  return give_name(to, aside) && give_name(from, to) && give_name(aside, from);
}

void remove_killed(fs::path const& path) {
  auto const lock = lock_directory(path);
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "cannot be removed", error);
}

}  // namespace

NewDirectory::NewDirectory(fs::path const& path, MayReplace may_replace)
    : m_path(without_slash(path)), m_may_replace(std::move(may_replace)), m_partial([this] {
        is_replaced(m_path, m_may_replace);
        auto const unfinished = fs::path(m_path) += ".spillway-partial";
        remove_killed(unfinished);
        make_directories(unfinished);
        m_lock = lock_directory(unfinished);
        if (!m_lock) refuse_held(unfinished);  // another one took it for a killed one's
        return unfinished;
      }) {}

void NewDirectory::publish() {
  sync_path(path());
  std::error_code unseen;
  m_partial.publish([&] {
    bool const replaces = is_replaced(m_path, m_may_replace);
    if (!(replaces ? exchange(path(), m_path) : give_name(path(), m_path)))
      fail(m_path, "cannot be given its name", {errno, std::generic_category()});
    if (replaces) fs::remove_all(path(), unseen);
  });
  sync_path(m_path.has_parent_path() ? m_path.parent_path() : ".");
}

}  // namespace spillway
