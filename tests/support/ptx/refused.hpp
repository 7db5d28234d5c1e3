// What is refused is not understood: the text of a module, or an instruction that is not offered.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace spillway::test::ptx {

class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void refuse(int line, fmt::format_string<Args...> why, Args&&... args) {
  throw Refused(fmt::format("line {}: {}", line, fmt::format(why, std::forward<Args>(args)...)));
}

}  // namespace spillway::test::ptx
