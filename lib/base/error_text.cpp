#include "base/error_text.hpp"

#include <system_error>

namespace spillway {

std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace spillway
