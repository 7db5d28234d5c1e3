#include "base/write_all.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace spillway {
namespace {

bool can_go_on(int fd) noexcept {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd room{fd, POLLOUT, 0};
  return ::poll(&room, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    auto const written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (!can_go_on(fd)) {
      return errno;
    }
  }
  return 0;
}

}  // namespace spillway
