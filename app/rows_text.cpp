#include "app/rows_text.hpp"

#include "base/wrapped.hpp"

namespace spillway {

std::string rows_text(BatchShape const& shape) {
  std::string text;
  for (auto line : {describe_share(shape), describe_empty_rows(shape)}) {
    if (line.ends_with('\n')) line.pop_back();
    if (!line.empty()) text += wrapped_line(line);
  }
  return text;
}

}  // namespace spillway
