// What ten steps of a tiny GPT come to, to the bit, with kernels of plain loops: the same on all
// x86 processors, and from version to version. A change of these numbers is a change of everyone's
// results: it has a reason, which CHANGELOG tells.
//
// Of the machine only the C library's logarithms and powers are in them. Seen equal: GCC 12 with
// -march=native on Zen 5 and without it (SSE2 alone), with one thread and with two, glibc 2.36.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/checksum.hpp"
#include "kernels/host/product.hpp"
#include "kernels/host/workspaces.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

struct Frozen {
  char const* name;
  Precision precision;
  bool tied = true, bias = true;
  double dropout = 0;
  int micro_batches = 1;
  Reduction reduction = Reduction::last;
  std::array<std::uint64_t, 3> checksums;  // with 1, 2 and 3 ranks
};

constexpr Frozen kFrozen[] = {
    {.name = "fp32",
     .precision = Precision::fp32,
     .checksums = {0x4150cc0e874b5c38, 0xbfa8473f6937e561, 0x04f58b567c17abd6}},
    {.name = "bf16",
     .precision = Precision::bf16,
     .checksums = {0x09f26d027891f919, 0xac393ee99395c2b5, 0xc978fe3437a764ce}},
    {.name = "bf16_untied_without_bias",
     .precision = Precision::bf16,
     .tied = false,
     .bias = false,
     .dropout = 0.1,
     .micro_batches = 3,
     .checksums = {0xc94282030ebda13e, 0x46d220b59ca0635f, 0xf580d9da2afd646f}},
    {.name = "fp32_reducing_each",
     .precision = Precision::fp32,
     .dropout = 0.1,
     .micro_batches = 2,
     .reduction = Reduction::each,
     .checksums = {0x30b6e6168d42efe4, 0xcd26be0347322132, 0xee246cac3027cbf6}},
};

void PrintTo(Frozen const& frozen, std::ostream* out) {
  *out << frozen.name;
}

// Its sizes are odd, its chunks have several norm tiles, and attention and loss take several steps.
Graph graph_of(Frozen const& frozen, std::int64_t ranks) {
  auto config = tiny_config();
  config.model.layers = 3;
  config.model.hidden = 72;
  config.model.heads = 3;
  config.model.tied = frozen.tied;
  config.model.bias = frozen.bias;
  config.model.dropout = frozen.dropout;
  config.data.sequence = 51;
  config.precision = frozen.precision;
  config.optim.reduction = frozen.reduction;
  auto graph = tiny_training_graph(config, ranks);
  graph.arithmetic.isa = host::kPortable;
  graph.arithmetic.attention_tile = 32;
  graph.arithmetic.threads = 2;
  size_workspaces(graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  return graph;
}

class FrozenBits : public testing::TestWithParam<Frozen> {};

TEST_P(FrozenBits, are_what_they_were) {
  auto const ranks = static_cast<std::size_t>(g_comm->size());
  ASSERT_LE(ranks, GetParam().checksums.size());
  auto const graph = graph_of(GetParam(), g_comm->size());
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  auto const story = train({.graph = graph,
                            .plan = plan,
                            .comm = *g_comm,
                            .micro_batches = GetParam().micro_batches,
                            .steps = 10});
  auto const came_to = checksum(std::as_bytes(std::span(story)));
  EXPECT_EQ(came_to, GetParam().checksums[ranks - 1])
      << fmt::format("{}, {} ranks: 0x{:016x}", GetParam().name, ranks, came_to);
}

INSTANTIATE_TEST_SUITE_P(Of, FrozenBits, testing::ValuesIn(kFrozen),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
