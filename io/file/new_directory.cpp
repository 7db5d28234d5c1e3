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
#include "io/file/path_names.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns whether `path` is a directory that is not empty and may be replaced. Throws
// Error(bad_input) if something is there that may not be replaced.
bool is_replaced(fs::path const& path, NewDirectory::MayReplace const& may_replace) {
  std::error_code ignored;  // if `path` cannot be looked at, it cannot be written either
  auto const kind = fs::symlink_status(path, ignored).type();
  if (kind == fs::file_type::not_found || kind == fs::file_type::none) return false;
  if (kind == fs::file_type::directory && fs::is_empty(path, ignored)) return false;
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

// Opens and locks a directory, or returns an empty descriptor if it cannot be opened. Throws if
// another process holds the lock, or replaced the directory before it was locked. On a file system
// without locks, other writers are not noticed.
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

void remove_leftover(fs::path const& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "cannot be removed", error);
}

fs::path aside_of(fs::path const& unfinished) {
  return fs::path(unfinished) += "-replaced";
}

// Lets two directories exchange their names in one step. If the file system cannot do that, as over
// a network, `to` is moved aside first, and moved back if `from` does not get its name. If the old
// directory then still has the name aside_of(from), the next writer removes it.
bool exchange(fs::path const& from, fs::path const& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return true;
  auto const aside = aside_of(from);
  if (!give_name(to, aside)) return false;
  bool const is_done = give_name(from, to);
  int const error = errno;
  give_name(aside, is_done ? from : to);
  errno = error;
  return is_done;
}

// Removes what a process left that was killed while it wrote `unfinished`. If it was killed while
// it replaced `to`, the old `to` gets its name back.
void remove_killed(fs::path const& unfinished, fs::path const& to) {
  auto const lock = lock_directory(unfinished);
  auto const aside = aside_of(unfinished);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(to, ignored))) {
    remove_leftover(aside);
  } else {
    give_name(aside, to);
  }
  remove_leftover(unfinished);
}

}  // namespace

NewDirectory::NewDirectory(fs::path const& path, MayReplace may_replace)
    : m_path(without_slash(path.lexically_normal())),
      m_may_replace(std::move(may_replace)),
      m_partial([this] {
        auto const unfinished = fs::path(m_path) += ".spillway-partial";
        remove_killed(unfinished, m_path);
        is_replaced(m_path, m_may_replace);
        make_directories(unfinished);
        m_lock = lock_directory(unfinished);
        if (!m_lock) refuse_held(unfinished);  // another process removed the directory
        return unfinished;
      }) {}

void NewDirectory::publish() {
  sync_path(path());
  std::error_code ignored;
  m_partial.publish([&] {
    bool const replaces = is_replaced(m_path, m_may_replace);
    if (!(replaces ? exchange(path(), m_path) : give_name(path(), m_path)))
      fail(m_path, "cannot be given its name", {errno, std::generic_category()});
    if (replaces) fs::remove_all(path(), ignored);
  });
  sync_path(directory_of(m_path));
}

}  // namespace spillway
