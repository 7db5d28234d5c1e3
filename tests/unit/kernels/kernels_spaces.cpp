// One program holds the portable kernels for several execution spaces, and all give the same bits.
#include <gtest/gtest.h>

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
};

TEST_P(KernelSpaces, give_the_hosts_bits) {
  KernelHarness h;
  int kinds = 0;
  auto const exec = space().make_exec(nullptr);
  for (auto const& [kind, inputs, outputs, attributes, in_place] :
       test::every_case(h, std::get<1>(GetParam()))) {
    ++kinds;
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
  EXPECT_EQ(kinds, 23);
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
