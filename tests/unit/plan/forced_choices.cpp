// What a user forces is no faster than what the search chooses, by its own prediction.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/data/machine_file.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::forced_choices_test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

struct Question {
  std::int64_t micro_batches, ranks;
  Budgets budgets;
};

PlanWords with_group(int group) {
  PlanWords words;
  words.group = group;
  return words;
}

std::vector<std::pair<std::string, PlanWords>> forces() {
  return {{"gradients device", {.gradients = {"device"}}},
          {"gradients host", {.gradients = {"host"}}},
          {"parameters device", {.parameters = {"device"}}},
          {"parameters host", {.parameters = {"host"}}},
          {"optimizer host", {.optimizer = {"host"}}},
          {"update device", {.update = {"device"}}},
          {"update host", {.update = {"host"}}},
          {"recompute", {.activations = {"recompute"}}},
          {"light", {.activations = {"light"}}},
          {"share nothing out", {.shard = {"none"}}},
          {"share all out", {.shard = {"all"}}},
          {"pairs", with_group(2)}};
}

// Of plans that are alike, the one that moves fewer bytes is chosen. What more is allowed here is
// what estimates cost, which choose the few plans that are simulated.
TEST(ForcedChoices, are_no_faster_than_the_search) {
  constexpr double alike = 1.025;
  constexpr std::size_t some = 4;  // each search takes seconds
  auto const graph = gpt_training_graph(
      {.layers = 16, .hidden = 2048, .heads = 16, .vocab = 50257, .sequence = 1024, .micro = 4});
  auto const a100 = load_machine(SPILLWAY_SOURCE_DIR "/input/machines/a100-80.yaml");
  std::vector<Question> const questions = {
      Question{8, 1, {6 * kGiB, 40 * kGiB, 0}}, Question{2, 1, {12 * kGiB, 40 * kGiB, 0}},
      Question{8, 4, {6 * kGiB, 20 * kGiB, 0}}, Question{4, 4, {4 * kGiB, 6 * kGiB, 100 * kGiB}}};
  for (Question const& it : some_of(questions, 1)) {
    auto const machine = shared_by(a100, it.ranks);
    auto const step_s = [&](PlanWords const& words) {
      auto const found =
          solve({graph, nullptr, words, it.budgets, machine, it.micro_batches, it.ranks});
      return found.chosen ? found.chosen->step_s : 1e9;
    };
    auto const chosen_s = step_s({});
    for (auto const& [what, words] : some_of(forces(), some))
      EXPECT_LE(chosen_s, alike * step_s(words))
          << what << ", " << it.micro_batches << " micro-batches, " << it.ranks << " ranks";
  }
}

}  // namespace
}  // namespace spillway::test::forced_choices_test
