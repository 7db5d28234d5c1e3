// All ranks multiply as rank 0's device chooses, and choose only if their kernels do.
#include "run/agreed_products.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "comm/on_all_ranks.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

// Chooses for every op what its rank is called, and keeps what is known.
ProductChoices choose_by_rank(KernelContext const&, std::span<Op const> ops,
                              std::string_view device, ProductChoices const& known) {
  ProductChoices choices{.made_by = std::string(device) + " of " + std::to_string(g_comm->rank())};
  for (auto const& op : ops) {
    auto const found = known.algorithms.find(op.name);
    choices.algorithms[op.name] =
        found == known.algorithms.end() ? std::to_string(g_comm->rank()) : found->second;
  }
  return choices;
}

ProductChoices fail_on_rank_0(KernelContext const&, std::span<Op const>, std::string_view,
                              ProductChoices const&) {
  throw Error(Status::device, "rank " + std::to_string(g_comm->rank()));
}

Graph graph_of(std::string const& first, std::string const& second) {
  Graph graph;
  for (auto const& name : {first, second}) {
    Op op;
    op.name = name;
    graph.ops.push_back(op);
  }
  return graph;
}

ProductChoices agreed(ChooseProducts choose, ProductChoices const& known) {
  auto const train = graph_of("a", "b"), eval = graph_of("b", "c");
  Compute const compute{host_device(), KernelTable(host::kernel, host::make_exec, choose)};
  return agreed_products(std::array{&train, &eval}, compute, known, *g_comm);
}

TEST(AgreedProducts, are_those_of_rank_0_for_all_graphs) {
  auto const choices = agreed(choose_by_rank, {});
  EXPECT_TRUE(choices.made_by.ends_with(" of 0")) << choices.made_by;
  EXPECT_EQ(choices.algorithms,
            (std::map<std::string, std::string>{{"a", "0"}, {"b", "0"}, {"c", "0"}}));
}

TEST(AgreedProducts, keep_what_an_earlier_run_knows) {
  auto const choices = agreed(choose_by_rank, {"earlier", {{"b", "as before"}, {"z", "gone"}}});
  EXPECT_EQ(choices.algorithms,
            (std::map<std::string, std::string>{{"a", "0"}, {"b", "as before"}, {"c", "0"}}));
}

TEST(AgreedProducts, are_none_if_kernels_choose_none) {
  EXPECT_EQ(agreed(nullptr, {"earlier", {{"b", "as before"}}}), ProductChoices{});
}

TEST(AgreedProducts, end_all_ranks_if_rank_0_fails) {
  try {
    agreed(fail_on_rank_0, {});
    FAIL();
  } catch (AgreedError const& error) {
    EXPECT_EQ(error.status(), Status::device);
    EXPECT_EQ(std::string(error.what()), g_comm->rank() == 0 ? "rank 0" : "");
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
