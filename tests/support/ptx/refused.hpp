// Refused is thrown for what the interpreter does not understand: the text of a module, or an
// instruction that it lacks. It never guesses.
//
// It lacks `.func` and `call` (so printf, assert and malloc), brx.idx, textures and surfaces,
// approximations of f64 and halves, set, slct, dp4a, video instructions, bar.red, bar.arrive,
// mbarrier, clusters, cp.async.bulk, wgmma, stmatrix, mma of other shapes and of integers, atomics
// of halves and vectors, and types of 128 bits.
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
