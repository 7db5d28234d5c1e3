// One program holds the portable kernels for several execution spaces, and all give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "kernels/host/kernels.hpp"
#include "tests/unit/kernels/every_case.hpp"

// What kernels/portable/kernels.hpp is for these spaces.
namespace spillway::teams {
std::optional<Kernel> portable_kernel(OpKind kind);
std::unique_ptr<Exec const> make_exec(void* stream);
}  // namespace spillway::teams
namespace spillway::serial {
std::optional<Kernel> portable_kernel(OpKind kind);
std::unique_ptr<Exec const> make_exec(void* stream);
}  // namespace spillway::serial

namespace spillway::kernels_spaces_test {
namespace {

using test::KernelHarness;

constexpr OpKind kPortableKinds[] = {
#define SPILLWAY_PORTABLE(kind) OpKind::kind,
#include "kernels/portable/kinds.def"
#undef SPILLWAY_PORTABLE
};

struct OtherSpace {
  char const* name;
  std::optional<Kernel> (*portable_kernel)(OpKind kind);
  std::unique_ptr<Exec const> (*make_exec)(void* stream);
};
constexpr OtherSpace kSpaces[] = {
    {"teams", teams::portable_kernel, teams::make_exec},
#ifdef SPILLWAY_TEST_SERIAL
    {"serial", serial::portable_kernel, serial::make_exec},
#endif
};

class KernelSpaces : public ::testing::TestWithParam<std::tuple<OtherSpace, DType>> {
 protected:
  OtherSpace const& space() const { return std::get<0>(GetParam()); }
  DType type() const { return std::get<1>(GetParam()); }
  void expect_the_hosts_bits(KernelHarness& h, std::vector<test::KernelCase> const& cases) const;
};

void KernelSpaces::expect_the_hosts_bits(KernelHarness& h,
                                         std::vector<test::KernelCase> const& cases) const {
  auto const exec = space().make_exec(nullptr);
  for (auto const& [kind, inputs, outputs, attributes, in_place] : cases) {
    h.op(kind, inputs, outputs, attributes, in_place);
    h.run(host::kernel(kind));
    std::vector<std::vector<std::byte>> expected;
    for (auto const& output : present(outputs)) expected.push_back(h.result_bytes(output));
    auto const kernel = space().portable_kernel(kind);
    ASSERT_TRUE(kernel) << name(kind);
    h.run(*kernel, *exec);
    auto next = expected.begin();
    for (auto const& output : present(outputs))
      EXPECT_TRUE(h.result_bytes(output) == *next++) << name(kind);
  }
}

TEST_P(KernelSpaces, give_the_hosts_bits) {
  KernelHarness h;
  auto const cases = test::every_case(h, type());
  for (auto const kind : kPortableKinds)
    EXPECT_EQ(std::ranges::count(cases, kind, &test::KernelCase::kind), 1)
        << name(kind) << ": give it a row in tests/unit/kernels/every_case.hpp";
  expect_the_hosts_bits(h, cases);
}

// A device takes sums over rows with other threads than a host.
TEST_P(KernelSpaces, give_the_hosts_bits_of_sums_over_many_rows) {
  constexpr std::int64_t kRows = 8225, kColumns = 21;
  KernelHarness h;
  auto const normal = [&](DType t, Shape shape) {
    auto const view = h.tensor(t, std::move(shape));
    h.fill_normal(view, 1);
    return view;
  };
  auto const numbers = [&](std::int64_t past) {
    auto const view = h.tensor(DType::i32, {kRows});
    h.fill_integers(view, 0, past);
    return view;
  };
  auto const x = normal(type(), {kRows, kColumns}), dy = normal(type(), {kRows, kColumns});
  auto const dx = h.tensor(type(), {kRows, kColumns}), gamma = normal(type(), {kColumns});
  auto const of_head = normal(type(), {7}), mean = normal(DType::f32, {kRows});
  auto const rstd = normal(DType::f32, {kRows}), of_heads = normal(DType::f32, {kRows, 3});
  auto const sums = [&](Shape shape) { return h.tensor(DType::f32, std::move(shape)); };
  expect_the_hosts_bits(
      h, {{OpKind::column_sum, {dy}, {sums({kColumns})}},
          {OpKind::layernorm_backward,
           {dy, x, gamma, mean, rstd, {}},
           {dx, sums({kColumns}), sums({kColumns})}},
          {OpKind::layernorm_backward, {dy, x, gamma, mean, rstd, x}, {dx, sums({kColumns}), {}}},
          {OpKind::rmsnorm_backward, {dy, x, of_head, of_heads, {}}, {dx, sums({7})}},
          {OpKind::rmsnorm_backward, {dy, x, of_head, of_heads, x}, {dx, sums({7})}},
          {OpKind::embed_backward,
           {numbers(100), dy, numbers(40), numbers(2)},
           {sums({103, kColumns}), sums({40, kColumns}), sums({2, kColumns})},
           EmbedAttributes{kRows}}});
}

TEST_P(KernelSpaces, refuse_another_spaces_exec) {
  KernelHarness h;
  auto const x = h.tensor(DType::f32, {5}), y = h.tensor(DType::f32, {5});
  h.fill_normal(x, 1);
  h.op(OpKind::add, {x, x}, {y});
  EXPECT_THROW(h.run(*space().portable_kernel(OpKind::add)), std::logic_error);
  EXPECT_THROW(h.run(host::kernel(OpKind::add), *space().make_exec(nullptr)), std::logic_error);
}

TEST_P(KernelSpaces, have_no_products_of_their_own) {
  EXPECT_FALSE(space().portable_kernel(OpKind::matmul));
}

INSTANTIATE_TEST_SUITE_P(, KernelSpaces,
                         ::testing::Combine(::testing::ValuesIn(kSpaces),
                                            ::testing::Values(DType::f32, DType::bf16)),
                         [](auto const& of) {
                           return std::string(std::get<0>(of.param).name) + "_" +
                                  std::string(name(std::get<1>(of.param)));
                         });

}  // namespace
}  // namespace spillway::kernels_spaces_test
