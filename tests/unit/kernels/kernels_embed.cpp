// embed and its gradient, against their serial references.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/kernel_rows.hpp"

namespace spillway::kernels_embed_test {
namespace {

using test::KernelHarness, test::KernelRows;

// Which of the operands that an embedding may do without it has.
struct EmbedOperands {
  bool wpe, positions, wtt, types;
};
constexpr EmbedOperands kEmbedOperands[] = {
    {true, false, false, false}, {false, false, false, false}, {true, true, false, false},
    {true, false, true, false},  {true, true, true, true},     {false, false, true, true}};

struct Embed {
  KernelHarness h;
  View tokens, positions, types;

  explicit Embed(EmbedOperands has)
      : tokens(numbers(300)), positions(numbers(40)), types(numbers(3)) {
    h.set(tokens, 0, 299);
    h.set(positions, 0, 39);
    h.set(types, 0, 2);
    if (!has.positions) positions = {};
    if (!has.types) types = {};
  }

 private:
  View numbers(std::int64_t past) {
    auto const view = h.tensor(DType::i32, {38});
    h.fill_integers(view, 0, past);
    return view;
  }
};

TEST_P(KernelRows, embed_adds_the_rows_of_its_tables) {
  for (auto const& has : kEmbedOperands) {
    Embed e(has);
    auto& h = e.h;
    auto const wte = h.tensor(T(), {300, 83}), x = h.tensor(T(), {38, 83});
    auto const wpe = h.tensor(T(), {40, 83}), wtt = h.tensor(T(), {3, 83});
    for (auto const& view : {wte, wpe, wtt}) h.fill_normal(view, 1);
    h.op(OpKind::embed,
         {e.tokens, wte, has.wpe ? wpe : View{}, e.positions, e.types, has.wtt ? wtt : View{}}, {x},
         EmbedAttributes{19});
    h.run(host::kernel(OpKind::embed));
    h.expect_same_bytes(x);
    double expected = h.contents(wte)[299 * 83];
    if (has.wpe) expected += h.contents(wpe)[has.positions ? 39 * 83 : 0];
    if (has.wtt) expected += h.contents(wtt)[has.types ? 2 * 83 : 0];
    EXPECT_NEAR(h.result(x, 0), expected, 0.05);
  }
}

TEST_P(KernelRows, embed_backward_sums_in_order_over_what_took_a_row) {
  for (auto const& has : kEmbedOperands) {
    Embed e(has);
    auto& h = e.h;
    auto const dx = h.tensor(T(), {38, 83});
    View const dwte = h.tensor(G(), {300, 83});
    View const dwpe = has.wpe ? h.tensor(G(), {40, 83}) : View{};
    View const dwtt = has.wtt ? h.tensor(G(), {3, 83}) : View{};
    h.fill_normal(dx, 1);
    h.op(OpKind::embed_backward, {e.tokens, dx, e.positions, e.types}, {dwte, dwpe, dwtt},
         EmbedAttributes{19});
    h.run(host::kernel(OpKind::embed_backward));
    for (auto const& table : {dwte, dwpe, dwtt})
      if (is_present(table)) h.expect_same_bytes(table);
    if (has.wtt && !has.types) {
      EXPECT_EQ(h.result(dwtt, 83), 0) << "no row is of type 1";
    }
  }
}

struct EmbedBackward {
  KernelHarness h;
  View tokens, dx, dwte, dwpe;

  EmbedBackward(DType t, DType g, bool accumulate)
      : tokens(h.tensor(DType::i32, {38})),
        dx(h.tensor(t, {38, 83})),
        dwte(h.tensor(g, {600, 83})),
        dwpe(h.tensor(g, {40, 83})) {
    h.fill_integers(tokens, 0, 600);
    for (auto const m : {0, 5, 6, 37}) h.set(tokens, m, 599);  // again and again, the last one
    h.set(tokens, 1, 0);
    h.fill_normal(dx, 1);
    if (accumulate) h.fill_normal(dwte, 1);
    h.op(OpKind::embed_backward, {tokens, dx, {}, {}}, {dwte, dwpe, {}}, EmbedAttributes{19},
         accumulate ? std::vector{0} : std::vector<int>{});
    h.run(host::kernel(OpKind::embed_backward));
  }
};

TEST_P(KernelRows, embed_backward_sums_repeated_tokens_in_order_and_zeroes_the_rest) {
  EmbedBackward e(T(), G(), false);
  e.h.expect_same_bytes(e.dwte);
  e.h.expect_same_bytes(e.dwpe);
  EXPECT_EQ(e.h.result(e.dwpe, 19 * 83), 0) << "positions beyond the sequence get no gradient";
}

// The lists of what took a row are long, and what took the last row lies far apart.
TEST_P(KernelRows, embed_backward_sums_over_many_rows_in_order) {
  constexpr std::int64_t kMany = 5000;
  KernelHarness h;
  auto const tokens = h.tensor(DType::i32, {kMany}), dx = h.tensor(T(), {kMany, 3});
  auto const dwte = h.tensor(G(), {14, 3}), dwpe = h.tensor(G(), {70, 3});
  auto const dwtt = h.tensor(G(), {2, 3});
  h.fill_integers(tokens, 0, 12);
  for (auto const m : {std::int64_t{1}, kMany - 1}) h.set(tokens, m, 13);
  h.fill_normal(dx, 1);
  h.op(OpKind::embed_backward, {tokens, dx, {}, {}}, {dwte, dwpe, dwtt}, EmbedAttributes{67});
  h.run(host::kernel(OpKind::embed_backward));
  for (auto const& table : {dwte, dwpe, dwtt}) h.expect_same_bytes(table);
  EXPECT_EQ(h.result(dwte, 12 * 3), 0) << "nothing took row 12";
}

TEST_P(KernelRows, embed_backward_adds_to_what_a_shared_head_wrote) {
  EmbedBackward e(T(), G(), true);
  e.h.expect_same_bytes(e.dwte);
  auto const dx = e.h.contents(e.dx);
  double const sum = dx[0] + dx[5 * 83] + dx[6 * 83] + dx[37 * 83];
  EXPECT_NEAR(e.h.result(e.dwte, 599 * 83), e.h.contents(e.dwte)[599 * 83] + sum, 0.05);
}

}  // namespace
}  // namespace spillway::kernels_embed_test
