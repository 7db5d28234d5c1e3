// Implements setp of f16 and bf16, with one or two numbers in a register.
#include "tests/support/ptx/comparisons.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {
namespace {

// Compares the halves that begin at bit `shift` of their registers.
template <class Word, FloatFormat const& format>
Lanes compare_halves(Warp const& warp, Operation const& o, unsigned shift) {
  double values[2][kLanes];
  for (unsigned n = 0; n < 2; ++n) {
    auto const* const words = warp.lanes<Word const>(o.from[n]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[n][lane] = value_of(words[lane] >> shift & 0xffff, format);
  }
  return compare(static_cast<Compare>(o.mode), values[0], values[1]);
}

template <FloatFormat const& format>
void setp_single(Warp& warp, Operation const& o, Lanes mask) {
  auto const result = compare_halves<std::uint16_t, format>(warp, o, 0);
  write_results(warp, o, mask, result, ~result);
}
// The lower halves give the first result, the upper ones the second.
template <FloatFormat const& format>
void setp_pair(Warp& warp, Operation const& o, Lanes mask) {
  write_results(warp, o, mask, compare_halves<std::uint32_t, format>(warp, o, 0),
                compare_halves<std::uint32_t, format>(warp, o, 16));
}

}  // namespace

void add_half_comparisons(Table& table) {
  for (std::size_t i = 0; i < std::size(kCompareNames); ++i) {
    auto const add = [&](std::string const& type, char width, Execute execute) {
      add_comparison(table, static_cast<Compare>(i), kCompareNames[i], false, type, width, execute);
    };
    add("f16", '2', setp_single<kF16>);
    add("bf16", '2', setp_single<kBf16>);
    add("f16x2", '4', setp_pair<kF16>);
    add("bf16x2", '4', setp_pair<kBf16>);
  }
}

}  // namespace spillway::test::ptx
