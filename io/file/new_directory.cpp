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

void remove_leftover(fs::path const& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail(path, "cannot be removed", error);
}

fs::path aside_of(fs::path const& unfinished) {
  return fs::path(unfinished) += "-replaced";
}

// So that one of them is `to` at every moment, where the file system can do it. On others, such as
// network ones, what is `to` is that again if the other one does not get the name; once it has, it
// is done, and what is still aside is for the next one to remove.
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

// What somebody left who was killed while he wrote, or while he replaced `to`, which then is back.
void remove_killed(fs::path const& unfinished, fs::path const& to) {
  auto const lock = lock_directory(unfinished);
  auto const aside = aside_of(unfinished);
  std::error_code unseen;
  if (fs::exists(fs::symlink_status(to, unseen))) {
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
  sync_path(directory_of(m_path));
}

}  // namespace spillway
