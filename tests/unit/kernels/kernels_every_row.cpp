// embed, its gradient and column_sum at every element against loops of the test's own: a kernel and
// its serial form share how they read their operands.
#include <gtest/gtest.h>

#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_every_row_test {
namespace {

using test::KernelHarness;

constexpr std::int64_t kRows = 38, kColumns = 21, kSequence = 19;
constexpr std::int64_t kWords = 300, kPlaces = 40, kTypes = 3;

struct Has {
  bool wpe, positions, wtt, types;
};
constexpr Has kCases[] = {{false, false, false, false}, {true, false, false, false},
                          {true, true, false, false},   {false, false, true, false},
                          {false, false, true, true},   {true, true, true, false},
                          {true, false, true, true},    {true, true, true, true}};

struct Embedding {
  KernelHarness h;
  View tokens, positions, types;
  Has has;

  explicit Embedding(Has const& of)
      : tokens(numbers(kWords, true)),
        positions(numbers(kPlaces, of.positions)),
        types(numbers(kTypes, of.types)),
        has(of) {}

  View table(std::int64_t rows, bool is_there = true) {
    if (!is_there) return {};
    auto const view = h.tensor(DType::f32, {rows, kColumns});
    h.fill_normal(view, 1);
    return view;
  }
  std::size_t word(std::size_t row) const { return number(tokens, row); }
  std::size_t place(std::size_t row) const {
    return has.positions ? number(positions, row) : row % kSequence;
  }
  std::size_t type(std::size_t row) const { return has.types ? number(types, row) : 0; }

 private:
  View numbers(std::int64_t past, bool are_there) {
    if (!are_there) return {};
    auto const view = h.tensor(DType::i32, {kRows});
    h.fill_integers(view, 0, past);
    return view;
  }
  std::size_t number(View const& view, std::size_t row) const {
    return static_cast<std::size_t>(h.contents(view)[row]);
  }
};

TEST(EveryRow, of_an_embedding_is_the_sum_of_the_rows_it_names) {
  for (auto const& has : kCases) {
    Embedding e(has);
    auto const wte = e.table(kWords), wpe = e.table(kPlaces, has.wpe);
    auto const wtt = e.table(kTypes, has.wtt), x = e.table(kRows);
    e.h.op(OpKind::embed, {e.tokens, wte, wpe, e.positions, e.types, wtt}, {x},
           EmbedAttributes{kSequence});
    e.h.run(host::kernel(OpKind::embed));
    auto const words = e.h.contents(wte);
    auto const places = has.wpe ? e.h.contents(wpe) : std::vector<double>();
    auto const kinds = has.wtt ? e.h.contents(wtt) : std::vector<double>();
    auto const got = e.h.results(x), serial = e.h.serial_results(x);
    for (std::size_t m = 0; m < kRows; ++m)
      for (std::size_t j = 0; j < kColumns; ++j) {
        double sum = words[e.word(m) * kColumns + j];
        if (has.wpe) sum += places[e.place(m) * kColumns + j];
        if (has.wtt) sum += kinds[e.type(m) * kColumns + j];
        ASSERT_NEAR(got[m * kColumns + j], sum, 1e-5) << m << ", " << j;
        ASSERT_NEAR(serial[m * kColumns + j], sum, 1e-5) << m << ", " << j;
      }
  }
}

TEST(EveryRow, of_an_embeddings_gradients_is_the_sum_over_what_took_it) {
  for (auto const& has : kCases)
    for (bool const accumulate : {false, true}) {
      Embedding e(has);
      auto const dx = e.table(kRows), dwte = e.table(kWords);
      auto const dwpe = e.table(kPlaces, has.wpe), dwtt = e.table(kTypes, has.wtt);
      e.h.op(OpKind::embed_backward, {e.tokens, dx, e.positions, e.types}, {dwte, dwpe, dwtt},
             EmbedAttributes{kSequence}, accumulate ? std::vector{0} : std::vector<int>{});
      e.h.run(host::kernel(OpKind::embed_backward));
      auto const slopes = e.h.contents(dx);
      auto const expect = [&](View const& table, std::int64_t rows, auto const& row_of, bool add) {
        auto sums = e.h.contents(table);
        if (!add) sums.assign(static_cast<std::size_t>(rows * kColumns), 0);
        for (std::size_t m = 0; m < kRows; ++m)
          for (std::size_t j = 0; j < kColumns; ++j)
            sums[row_of(m) * kColumns + j] += slopes[m * kColumns + j];
        auto const got = e.h.results(table), serial = e.h.serial_results(table);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          ASSERT_NEAR(got[i], sums[i], 1e-5) << i;
          ASSERT_NEAR(serial[i], sums[i], 1e-5) << i;
        }
      };
      expect(
          dwte, kWords, [&](std::size_t m) { return e.word(m); }, accumulate);
      if (has.wpe)
        expect(
            dwpe, kPlaces, [&](std::size_t m) { return e.place(m); }, false);
      if (has.wtt)
        expect(
            dwtt, kTypes, [&](std::size_t m) { return e.type(m); }, false);
    }
}

// dy is columns of a wider product, as a bias of q, k and v has it.
TEST(EveryRow, of_a_bias_gradient_is_a_columns_sum) {
  for (std::int64_t const rows : {1, 7, 32, 45, 8229}) {
    KernelHarness h;
    auto const wide = h.tensor(DType::f32, {rows, 29}), db = h.tensor(DType::f32, {17});
    h.fill_normal(wide, 1);
    auto const dy = columns(wide, 5, 17);
    h.op(OpKind::column_sum, {dy}, {db});
    h.run(host::kernel(OpKind::column_sum));
    auto const values = h.contents(wide), got = h.results(db), serial = h.serial_results(db);
    for (std::size_t j = 0; j < 17; ++j) {
      double sum = 0;
      for (std::size_t m = 0; m < static_cast<std::size_t>(rows); ++m)
        sum += values[m * 29 + 5 + j];
      EXPECT_NEAR(got[j], sum, 1e-3) << rows << ", " << j;
      EXPECT_NEAR(serial[j], sum, 1e-4) << rows << ", " << j;
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_every_row_test
