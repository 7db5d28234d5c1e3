// Wherever activations, parameters, gradients and optimizer state lie, and wherever updates run: a
// run gives the same bits. Every combination of tiers, with the rest of what a plan and a machine
// may say changing from one to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "io/ring/scripted_queue.hpp"
#include "plan/data/plan.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

constexpr std::array kTiersOf = {Tier::device, Tier::host, Tier::nvme};
// By the tier of activations: what may be asked for.
constexpr std::array<std::array<BlockPlan, 4>, 3> kPolicies = {{
    {{{BlockPolicy::keep, 1}, {BlockPolicy::light, 1}, {BlockPolicy::recompute, 1}, {}}},
    {{{BlockPolicy::host, 1},
      {BlockPolicy::light_host, 1},
      {BlockPolicy::recompute_host, 0.6},
      {BlockPolicy::light_host, 0.3}}},
    {{{BlockPolicy::nvme, 1},
      {BlockPolicy::recompute_nvme, 1},
      {BlockPolicy::nvme, 0.5},
      {BlockPolicy::light_nvme, 0.7}}},
}};
constexpr std::array<std::optional<Backend>, 4> kBackends = {std::nullopt, Backend::uring,
                                                             Backend::uring_plain, Backend::posix};

struct Case {
  Tier activations, parameters, optimizer, update;
  int number;
};

// All combinations, numbered from a number that differs from configuration to configuration.
std::vector<Case> all_cases(int configuration) {
  std::vector<Case> all;
  for (auto const activations : kTiersOf) {
    for (auto const parameters : kTiersOf) {
      for (auto const optimizer : kTiersOf) {
        for (auto const update : {Tier::device, Tier::host}) {
          auto const number = static_cast<int>(all.size()) + 7 * configuration;
          all.push_back({activations, parameters, optimizer, update, number});
        }
      }
    }
  }
  return all;
}

// Nine in which every two of the tiers and the update meet in every way; nine configurations that
// follow each other have all combinations, and so have nine samples.
std::vector<Case> cases(int configuration) {
  auto all = all_cases(configuration);
  if (takes_all()) return all;
  std::erase_if(all, [&](Case const& c) {
    auto const activations = index(c.activations), parameters = index(c.parameters);
    auto const turn = turn_of(9, static_cast<std::uint64_t>(configuration));
    bool const on_host = (activations + 2 * parameters + turn / 3) % 3 == 1;
    return index(c.optimizer) != (activations + parameters + turn) % 3 ||
           c.update != (on_host ? Tier::host : Tier::device);
  });
  // More ranks than the cores that tests can count on: hardly anything away, and all.
  if (g_comm->size() > 2) {
    std::erase_if(all, [](Case const& c) {
      return c.activations != c.parameters || c.activations == Tier::host;
    });
  }
  return all;
}

// Some chunks are shared out and others are not, each way in its turn.
void share_out(Graph const& graph, Plan& plan, std::size_t number) {
  for (Chunk const& chunk : graph.chunks) {
    if (may_share_out(graph, chunk.id))
      plan.chunks[chunk.id].shard = kShards[number++ / 2 % kShards.size()];
  }
}

// What no case is about changes with its number: gradients' tier, the policy that leads to the
// tier, what ranks share out, how far ahead, how many micro-batches walk together, whether the host
// lane reaches the device tier, its threads, and, without clipping, if updates begin beside the
// backward pass, and how many of them.
Plan plan_of(Graph const& graph, Case const& c, bool clip) {
  Plan plan;
  auto const& policies = kPolicies[index(c.activations)];
  auto number = static_cast<std::size_t>(c.number);
  for (Block const& block : graph.blocks) {
    plan.blocks.push_back(block.layer ? policies[number % policies.size()] : BlockPlan{});
    if (c.number % 3 == 0) ++number;  // blocks differ
  }
  plan.chunks.assign(graph.chunks.size(), {c.parameters, Tier::device, c.optimizer, c.update});
  for (auto& chunk : plan.chunks) chunk.gradients = kTiersOf[number / 2 % kTiersOf.size()];
  share_out(graph, plan, static_cast<std::size_t>(c.number));
  plan.prefetch = c.number % 4;
  plan.group = 1 + c.number / 4 % 3;
  plan.unified = c.number / 3 % 2 == 0 && !device_has_own_kernels();
  plan.staging_piece_bytes = std::int64_t{1} << 20;  // rings begin again and again
  plan.redo = clip || c.number / 5 % 2 == 0;
  if (!plan.redo) plan.early = 25 * (c.number / 2 % 5);
  normalise(graph, plan);
  return plan;
}

std::optional<Backend> backend_of(Case const& c) {
  return kBackends[static_cast<std::size_t>(c.number) % kBackends.size()];
}

SpillSettings spill_of(Case const& c) {
  SpillSettings settings;
  settings.queue.backend = backend_of(c);
  if (settings.queue.backend == Backend::uring)  // as far as the system lets us
    settings.queue.backend.reset();
  settings.queue.depth = c.number % 5 == 0 ? 1 : 32;
  return settings;
}

// A third of the cases has one file, a third is striped over two, and a third over three.
Directories directories_of(Case const& c) {
  return std::vector<std::string>(1 + static_cast<std::size_t>(c.number) % 3, ::testing::TempDir());
}

// Every seventh on storage that takes its time, by a seed, and ends things in any order.
SpillFile spill_file(Case const& c, std::int64_t bytes) {
  auto const settings = spill_of(c);
  if (c.number % 7 != 3) return SpillFile(directories_of(c), bytes, settings);
  auto const seed = static_cast<std::uint64_t>(c.number);
  auto const late = [random = std::minstd_rand(static_cast<unsigned>(c.number) + 1)](
                        TransferRequest const& rest) mutable -> std::optional<TransferEnding> {
    if (random() % 4 != 0) return {};
    return TransferEnding(std::ssize(rest.memory));
  };
  return SpillFile(directories_of(c), bytes, settings,
                   {std::make_unique<ScriptedQueue>(settings.queue.depth, seed, late), ""});
}

std::string text_of(Case const& c) {
  return "activations " + std::string(name(c.activations)) + ", parameters " +
         std::string(name(c.parameters)) + ", optimizer " + std::string(name(c.optimizer)) +
         ", update " + std::string(name(c.update)) + ", number " + std::to_string(c.number);
}

// So that other families than the first, which have one configuration each, differ in places.
int place_of(FamilyCase const& family) {
  auto const all = family_cases();
  auto const found = std::ranges::find(all, family.name, &FamilyCase::name);
  return static_cast<int>(found - all.begin());
}

// family, precision, micro-batches, clip, optim.reduction
class Places
    : public ::testing::TestWithParam<std::tuple<FamilyCase, Precision, int, bool, Reduction>> {};

TEST_P(Places, of_all_kinds_give_equal_bits) {
  auto const& [family, precision, micro_batches, clip, reduction] = GetParam();
  auto config = family.config;
  config.model.layers = 3;
  config.model.hidden = 64;  // tensors that are worth a transfer
  config.model.dropout = config.model.attention_dropout = 0.1;
  config.data.sequence = 64;
  config.precision = precision;
  config.optim.reduction = reduction;
  bool const narrow = precision == Precision::bf16 && micro_batches == 3;
  config.optim.moments = narrow ? Precision::bf16 : Precision::fp32;
  int const configuration = (precision == Precision::bf16) + 2 * (micro_batches / 3) + 4 * clip +
                            6 * (reduction == Reduction::each) + place_of(family);
  bool const has_tiles = std::ranges::count(config.model.lora.targets, "all") == 0;
  if (configuration % 2 == 1 && has_tiles)
    config.batch.mlp_chunk = 52;  // of sequences of 64 rows and others
  auto const graph = tiny_run_graph(config, g_comm->size());
  Story expected;
  for (auto const& c : cases(configuration)) {
    SCOPED_TRACE(text_of(c));
    auto const plan = plan_of(graph, c, clip);
    auto const story = train({graph, plan, *g_comm, micro_batches, clip, 3,
                              [&](std::int64_t bytes) { return spill_file(c, bytes); },
                              backend_of(c) == Backend::uring, true, 1 + c.number % 3});
    if (expected.empty()) expected = story;
    ASSERT_EQ(story, expected);
  }
}

std::string name_of(::testing::TestParamInfo<Places::ParamType> const& info) {
  auto const& [family, precision, micro_batches, clip, reduction] = info.param;
  return family.name + "_" + std::string(word(precision)) + "_" + std::to_string(micro_batches) +
         (clip ? "_clipped_" : "_free_") + std::string(word(reduction));
}

INSTANTIATE_TEST_SUITE_P(Under, Places,
                         ::testing::Combine(::testing::Values(family_cases().front()),
                                            ::testing::Values(Precision::fp32, Precision::bf16),
                                            ::testing::Values(1, 3), ::testing::Bool(),
                                            ::testing::Values(Reduction::last)),
                         name_of);
// They differ in their ops, of which each has tests of its own, and in what crosses from block to
// block.
INSTANTIATE_TEST_SUITE_P(
    OfFamilies, Places,
    ::testing::Combine(::testing::ValuesIn(other_families()), ::testing::Values(Precision::bf16),
                       ::testing::ValuesIn(takes_all() ? std::vector{1, 3} : std::vector{3}),
                       ::testing::Values(true), ::testing::Values(Reduction::last)),
    name_of);
INSTANTIATE_TEST_SUITE_P(ReducingEach, Places,
                         ::testing::Combine(::testing::Values(family_cases().front()),
                                            ::testing::Values(Precision::fp32, Precision::bf16),
                                            ::testing::Values(3), ::testing::Bool(),
                                            ::testing::Values(Reduction::each)),
                         name_of);

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
