#include "monitor/exit_words.hpp"

#include "base/error.hpp"

namespace spillway {

std::string_view exit_words(int status) {
  switch (static_cast<Status>(status)) {
    case Status::done:
      return "done";
    case Status::bad_input:
      return "its input was wrong";
    case Status::cannot_fit:
      return "memory or storage was too small";
    case Status::storage:
      return "storage failed";
    case Status::damaged:
      return "a file or spilled data was damaged";
    case Status::peer_lost:
      return "another rank was lost";
    case Status::non_finite:
      return "the loss or the gradient norm was not finite";
    case Status::device:
      return "a device failed";
    case Status::requeue:
      return "stopped as asked";
  }
  return "ended with an error";
}

}  // namespace spillway
