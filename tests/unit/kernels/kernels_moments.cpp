// Moments that are kept in bf16: rounded by draws that depend on nothing but seed, update and
// element, so that neither the number of steps nor the way updates are cut shows.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <span>

#include "base/bf16.hpp"
#include "kernels/formulas/moment_draws.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_moments_test {
namespace {

using test::KernelHarness;

TEST(MomentDraws, of_a_tile_are_those_of_its_elements) {
  MomentDraws const draws(5, 3, 17);
  for (std::int64_t const tile : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 30}) {
    std::array<std::uint32_t, MomentDraws::kTile> words;
    draws.fill(tile, words.data());
    for (std::int64_t i = 0; i < MomentDraws::kTile; ++i)
      ASSERT_EQ(words[static_cast<std::size_t>(i)], draws.of(tile * MomentDraws::kTile + i)) << i;
  }
}

// As runs have drawn them so far: key and counter by number, and which word an element has.
TEST(MomentDraws, follow_from_seed_chunk_update_and_element) {
  MomentDraws const draws(5, 3, 17);
  EXPECT_EQ(draws.key, 0x006d6f6d656e7476u);
  EXPECT_EQ(draws.high, 0x0000000300000011u);
  EXPECT_EQ(MomentDraws(5, 3, (1ull << 32) + 17).high, draws.high) << "the chunk has its own bits";
  struct DrawPlace {
    std::int64_t element;
    std::uint64_t block;
    int word;
  };
  for (auto const& [element, block, word] :
       {DrawPlace{0, 0, 0}, DrawPlace{63, 63, 0}, DrawPlace{64, 0, 1}, DrawPlace{130, 2, 2},
        DrawPlace{255, 63, 3}, DrawPlace{256, 64, 0}, DrawPlace{256 + 70, 64 + 6, 1},
        DrawPlace{1ll << 38, 1ull << 36, 0}})
    EXPECT_EQ(draws.of(element), philox(draws.key, draws.high, block).x[word]) << element;
}

// Words of 32 bits that are drawn evenly: among 4096, two are equal with a chance of 1 in 500, and
// here none are.
TEST(MomentDraws, differ_between_seeds_chunks_updates_and_elements) {
  std::set<std::uint32_t> seen;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    for (int chunk = 0; chunk < 2; ++chunk) {
      for (std::uint64_t update = 1; update <= 2; ++update) {
        for (std::int64_t element = 0; element < 512; ++element, ++count)
          seen.insert(MomentDraws(seed, chunk, update).of(element));
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
}

// The mean of n even draws below 2^16 has a deviation of 2^16 / sqrt(12 n).
TEST(MomentDraws, are_even_in_both_halves_and_over_updates_too) {
  constexpr int kDraws = 1 << 16;
  double const bound = 6 * 65536 / std::sqrt(12.0 * kDraws);
  std::array<double, 4> sums{};
  for (int i = 0; i < kDraws; ++i) {
    auto const of_elements = MomentDraws(1, 0, 1).of(i);
    auto const of_updates = MomentDraws(1, 0, static_cast<std::uint64_t>(i)).of(0);
    sums[0] += of_elements & 0xffff, sums[1] += of_elements >> 16;
    sums[2] += of_updates & 0xffff, sums[3] += of_updates >> 16;
  }
  for (auto const sum : sums) EXPECT_NEAR(sum / kDraws, 32767.5, bound);
}

constexpr double kBeta1 = 0.9, kBeta2 = 0.999;

// One chunk with moments in bf16, whose parameters begin anywhere in tiles of draws.
class Moments : public ::testing::TestWithParam<DType> {
 protected:
  KernelHarness h;
  Chunk chunk = h.chunk({1500, 83, 1, 700});
  View gradient = tensor(DType::f32), control = h.tensor(DType::f64, {kControlWords});
  View parameter = tensor(GetParam()), remainder = tensor(DType::i16);
  View m = tensor(DType::bf16), v = tensor(DType::bf16);

  View tensor(DType dtype) { return h.tensor(dtype, {chunk.elements}); }
  static View part(View const& tensor, std::int64_t first, std::int64_t last) {
    return {tensor.tensor, first, {last - first}, {1}};
  }

  void SetUp() override {
    h.fill_normal(gradient, 1);
    h.fill_normal(parameter, 0.02);
    h.fill_integers(remainder, -0x8000, 0x8000);
    h.fill_normal(m, 0.1);
    h.set_all(v, std::vector<double>(static_cast<std::size_t>(chunk.elements), 0.01));
  }

  // Updates elements [first, last) of the chunk, and keeps what came out.
  void update(std::int64_t first, std::int64_t last, int number, std::uint64_t seed = 7) {
    bool const split = GetParam() == DType::bf16;
    h.set_all(control, {1, 1, 1e-3, 1 - std::pow(kBeta1, number), 1 - std::pow(kBeta2, number),
                        static_cast<double>(number), 0, 0});
    h.op(OpKind::adamw, {part(gradient, first, last), control},
         {part(parameter, first, last), split ? part(remainder, first, last) : View{},
          part(m, first, last), part(v, first, last)},
         AdamWAttributes{kBeta1, kBeta2, 1e-8, 0.1, 1, {first}, seed});
    h.run(host::kernel(OpKind::adamw));
    for (auto const& output : {parameter, remainder, m, v}) h.expect_same_bytes(output);
    h.keep_results();
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Moments, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(Moments, are_the_same_in_whatever_slices_updates_run) {
  KernelHarness const before = h;
  std::vector<std::vector<std::byte>> expected;
  for (int const cut : {0, 1, 2, 3}) {
    h = before;
    for (int number = 1; number <= 2; ++number) {
      std::vector<std::int64_t> const ends[] = {
          {chunk.elements},
          {1, 2, 257, 1501, chunk.elements},
          {256, 512, 1024, chunk.elements},
          {1024, 1100, 1700, chunk.elements - 1, chunk.elements}};
      std::int64_t first = 0;
      for (auto const end : ends[cut]) update(std::exchange(first, end), end, number);
    }
    std::vector<std::vector<std::byte>> bytes;
    for (auto const& output : {parameter, remainder, m, v}) bytes.push_back(h.result_bytes(output));
    if (cut == 0) expected = bytes;
    EXPECT_EQ(bytes, expected) << cut;
  }
}

TEST_P(Moments, depend_on_the_seed_and_on_the_number_of_the_update) {
  KernelHarness const before = h;
  auto const after = [&](int number, std::uint64_t seed) {
    h = before;
    update(0, chunk.elements, number, seed);
    return std::pair(h.result_bytes(m), h.result_bytes(v));
  };
  auto const expected = after(1, 7);
  EXPECT_EQ(after(1, 7), expected);
  for (auto const& [number, seed] : {std::pair(2, 7), std::pair(1, 8)}) {
    auto const other = after(number, static_cast<std::uint64_t>(seed));
    EXPECT_NE(other.first, expected.first);
    EXPECT_NE(other.second, expected.second);
  }
}

TEST_P(Moments, of_a_slice_that_is_a_gap_stay_as_they_are) {
  View const outputs[] = {parameter, remainder, m, v};
  std::vector<std::vector<double>> before, after;
  for (auto const& output : outputs) before.push_back(h.contents(output));
  update(1500, 1536, 1);
  for (auto const& output : outputs) after.push_back(h.contents(output));
  EXPECT_EQ(after, before);
}

// What fp64 makes of the moments of one gradient, and how far bf16 may be off. A step rounds to a
// neighbour with the right mean, which adds a variance of at most a quarter of a unit squared; a
// unit is at most 2^-7 of the value. Earlier errors fade as the moment itself does.
struct Exact {
  double beta, value = 0, variance = 0;

  void step(double gradient) {
    value = beta * value + (1 - beta) * gradient;
    variance = beta * beta * variance + std::pow(value * 0x1p-7, 2) / 4;
  }
};

// Gradients are large for some time and then a tenth of that, so that v rises, falls and stays.
TEST(BF16Moments, are_off_by_no_more_after_thousands_of_steps_at_a_beta2_of0999) {
  constexpr int kElements = 1024, kSteps = 4000, kLargeUntil = 500;
  KernelHarness h;
  h.chunk({kElements});
  auto const tensor = [&](DType dtype) { return h.tensor(dtype, {kElements}); };
  auto const gradient = tensor(DType::f32), control = h.tensor(DType::f64, {kControlWords});
  auto const parameter = tensor(DType::f32), m = tensor(DType::bf16), v = tensor(DType::bf16);
  std::vector<double> const zeros(kElements), ones(kElements, 1);
  for (auto const& zero : {parameter, m, v}) h.set_all(zero, zeros);
  h.set_all(gradient, ones);
  h.op(OpKind::adamw, {gradient, control}, {parameter, View{}, m, v},
       AdamWAttributes{kBeta1, kBeta2, 1e-8, 0, 1, {}, 7});

  Exact exact_m{kBeta1}, exact_v{kBeta2};
  auto const expect_near = [&](View const& moment, Exact const& exact, int step) {
    double sum = 0, squares = 0;
    for (auto const value : h.results(moment)) {
      sum += value - exact.value;
      squares += std::pow(value - exact.value, 2);
    }
    double const deviation = std::sqrt(exact.variance);
    EXPECT_LE(std::abs(sum / kElements), 6 * deviation / std::sqrt(kElements)) << "step " << step;
    EXPECT_LE(std::sqrt(squares / kElements), 1.2 * deviation) << "step " << step;
  };
  for (int step = 1; step <= kSteps; ++step) {
    double const scale = step <= kLargeUntil ? 1 : 0.1;
    h.set_all(control, {1, scale, 0, 1 - std::pow(kBeta1, step), 1 - std::pow(kBeta2, step),
                        static_cast<double>(step), 0, 0});
    h.run(host::kernel(OpKind::adamw), 1);
    h.keep_results();
    exact_m.step(scale);
    exact_v.step(scale * scale);
    if (step % 250 != 0) continue;
    expect_near(m, exact_m, step);
    expect_near(v, exact_v, step);
  }
}

// Both become the middle between two numbers of bf16, where the highest bit of a draw decides: m's
// is in the lower half of the element's word, v's in the upper one.
TEST(BF16Moments, are_rounded_by_the_halves_of_the_draws_of_their_chunks_elements) {
  constexpr std::int64_t kFirst = 100, kElements = 700;
  constexpr double kBeta = 255.0 / 256;
  KernelHarness h;
  h.chunk({kFirst + kElements});
  h.graph().chunks.push_back(h.graph().chunks[0]);
  auto const tensor = [&](DType dtype, double value) {
    auto const view = h.tensor(dtype, {kElements});
    h.fill_normal(view, 0, value);
    return view;
  };
  auto const gradient = tensor(DType::f32, 2), parameter = tensor(DType::f32, 0.5);
  auto const m = tensor(DType::bf16, 1), v = tensor(DType::bf16, 1);
  auto const control = h.tensor(DType::f64, {kControlWords});
  h.set_all(control, {1, 1, 0, 1, 1, 17, 0, 0});
  h.op(OpKind::adamw, {gradient, control}, {parameter, View{}, m, v},
       AdamWAttributes{kBeta, kBeta, 1e-8, 0, 1, {kFirst}, 5});
  h.op().chunk = 1;
  h.run(host::kernel(OpKind::adamw));
  MomentDraws const draws(5, 1, 17);
  auto const got_m = h.results(m), got_v = h.results(v);
  for (std::size_t i = 0; i < got_m.size(); ++i) {
    auto const word = draws.of(kFirst + static_cast<std::int64_t>(i));
    ASSERT_EQ(got_m[i], (word & 0x8000u) != 0 ? 1.0078125 : 1) << i;
    ASSERT_EQ(got_v[i], (word & 0x80000000u) != 0 ? 1.015625 : 1.0078125) << i;
  }
}

TEST(BF16Moments, of_elements_without_a_gradient_stay_zero) {
  KernelHarness h;
  h.chunk({512});
  auto const tensor = [&](DType dtype) { return h.tensor(dtype, {512}); };
  auto const gradient = tensor(DType::f32), control = h.tensor(DType::f64, {kControlWords});
  auto const parameter = tensor(DType::f32), m = tensor(DType::bf16), v = tensor(DType::bf16);
  std::vector<double> const zeros(512);
  for (auto const& zero : {gradient, parameter, m, v}) h.set_all(zero, zeros);
  h.op(OpKind::adamw, {gradient, control}, {parameter, View{}, m, v}, AdamWAttributes{});
  for (int step = 1; step <= 10; ++step) {
    h.set_all(control, {1, 1, 1e-3, 0.1, 0.1, static_cast<double>(step), 0, 0});
    h.run(host::kernel(OpKind::adamw));
    h.keep_results();
  }
  for (auto const& zero : {parameter, m, v}) EXPECT_EQ(h.contents(zero), zeros);
}

}  // namespace
}  // namespace spillway::kernels_moments_test
