#include "job/at_work.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <span>

#include "io/file/file.hpp"
#include "job/owner.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// A link or a pipe of such a name is none of a run's.
FileDescriptor open_plain(fs::path const& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

std::string text_of(FileDescriptor const& file) {
  std::array<char, 4096> text{};
  auto const read = read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0);
  return {text.data(), static_cast<std::size_t>(read.done_bytes)};
}

// Returns 0, or the errno of flock. The lock ends with the descriptor.
int share_now(FileDescriptor const& file) {
  while (::flock(file.get(), LOCK_SH | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

AtWork by_owner_file(fs::path const& path) {
  auto const file = open_plain(path);
  if (!file) return {errno == ENOENT ? std::optional(false) : std::nullopt};
  auto const owner = parse_owner(text_of(file));
  if (!owner) return {std::nullopt};
  return {runs(*owner), fmt::format("pid {} on {}", owner->pid, owner->host)};
}

}  // namespace

AtWork at_work(fs::path const& run_dir) {
  auto const lock = open_plain(run_dir / "lock");
  if (!lock) return {errno == ENOENT ? std::optional(false) : std::nullopt};
  int const error = share_now(lock);
  if (error == 0) return {false};
  if (error != EWOULDBLOCK) return by_owner_file(run_dir / "lock.owner");
  auto const text = text_of(lock);
  return {true, "pid " + text.substr(0, text.find('\n'))};
}

}  // namespace spillway
