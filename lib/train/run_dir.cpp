#include "train/run_dir.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse(std::filesystem::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("run.dir: {}: {}", path.string(), why));
}

FileDescriptor take_lock(std::filesystem::path const& path) {
  auto const file = path / "lock";
  FileDescriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) refuse(path, "cannot be written: " + error_text(errno));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    refuse(path, "another job is running in it (it holds `lock`); give this run its own run.dir");
  }
  auto const owner = fmt::format("{}\n", getpid());
  if (ftruncate(lock.get(), 0) != 0 ||
      pwrite(lock.get(), owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    refuse(path, "cannot be written: " + error_text(errno));
  }
  return lock;
}

}  // namespace

void require_run_place(std::filesystem::path const& path) {
  std::error_code unused;
  auto nearest = std::filesystem::absolute(path);
  while (!std::filesystem::exists(nearest, unused) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (open_without_name(nearest)) return;
  auto const why = error_text(errno);
  auto const* const what = std::filesystem::exists(path, unused) ? "written" : "created";
  refuse(path, fmt::format("cannot be {}: {}", what, why));
}

RunDir::RunDir(std::filesystem::path path) : m_path(std::move(path)) {
  std::error_code failure;
  std::filesystem::create_directories(m_path, failure);
  if (failure) refuse(m_path, "cannot be created: " + failure.message());
  m_lock = take_lock(m_path);
}

void RunDir::write(std::string const& name, std::string const& text) const {
  replace_text(m_path / name, text);
}

}  // namespace spillway
