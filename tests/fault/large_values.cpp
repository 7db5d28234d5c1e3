// Values within their bounds, however large: planned in bounded time and memory, or refused in one
// line before anything is built.
#include <fmt/core.h>

#include <limits>
#include <set>
#include <string_view>

#include "config/keys.hpp"
#include "fault_test.hpp"

namespace spillway::test::large_values_test {
namespace {

constexpr int kGib = 1 << 20;  // in the unit of `ulimit -v`
// A hundred times what it takes here; what this file is about took more, or more memory.
constexpr int kLimitS = 120;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimitsMemory = false;  // it maps more than there is
#else
constexpr bool kLimitsMemory = true;
#endif

class LargeValues : public FaultTest {
 protected:
  // For another machine: nothing is measured.
  Outcome plan(std::string const& arguments, int gib = 1) const {
    return limited("plan " + inputs("gpt.yaml") + " --machine " + inputs("machines/h100.yaml") +
                       " model.vocab=50257 precision=fp32 debug.kernels=portable " + arguments,
                   gib);
  }
  Outcome limited(std::string const& arguments, int gib) const {
    auto const limit = kLimitsMemory ? fmt::format("ulimit -v {}; ", gib * kGib) : "";
    return run_command(limit + spillway_command(kAlone) + " " + arguments, kLimitS);
  }
  static std::string inputs(std::string const& name) {
    return std::string(SPILLWAY_SOURCE_DIR "/input/") + name;
  }
};

// "model.layers=5000", "model.hidden=1000000", ..., each as much as it may be, of the keys that
// models of the family have.
std::vector<std::string> maxima(Family family) {
  Config config;
  std::vector<std::string> result;
  for (Key const& key : keys_of(config)) {
    auto const* const number = std::get_if<IntegerField>(&key.field);
    if (number == nullptr || !key.is_of(family)) continue;
    result.push_back(fmt::format("{}={}", key.name, number->max));
  }
  return result;
}

TEST_F(LargeValues, thousands_of_layers_are_planned) {
  auto const outcome = plan("model.layers=2000 batch.micro=8");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("of 2000 layers"), std::string::npos);
}

// In small memory, so that much moves between many tiers.
TEST_F(LargeValues, hundreds_of_layers_that_spill_are_planned) {
  auto const outcome = plan("model.layers=500 batch.micro=8 memory.device=2GiB memory.host=20GiB");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_F(LargeValues, a_million_micro_batches_are_planned) {
  auto const outcome = plan("batch.sequences=1000000 batch.micro=1");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("1000000 micro-batches of 1024 tokens"), std::string::npos);
}

TEST_F(LargeValues, what_is_a_little_more_is_refused_by_its_key) {
  EXPECT_TRUE(fails_with(2, "model.layers: 5001 is out of bounds", plan("model.layers=5001")));
  EXPECT_TRUE(fails_with(2, "batch.sequences: 1048577 micro-batches a step are more than 1048576",
                         plan("batch.sequences=1048577 batch.micro=1")));
  EXPECT_TRUE(fails_with(2, "memory.host: 9223372036854775807 is out of bounds",
                         plan("memory.host=9223372036854775807")));
}

// Each of the others as it is. With thousands of layers plans take longer: see above.
TEST_F(LargeValues, the_most_of_any_key_is_planned_or_refused_in_one_line) {
  std::set<std::string> tried;
  for (auto const family : {Family::gpt, Family::bert, Family::t5, Family::llama}) {
    auto const name = std::string(word(family));
    for (std::string const& most : maxima(family)) {
      if (most.find("layers=") != most.npos || !tried.insert(most).second) continue;
      SCOPED_TRACE(name + ": " + most);
      auto const outcome = plan("model.family=" + name + " " + most);
      auto const good = outcome.status == 0 && outcome.output.starts_with("Fits with ");
      if (good) continue;
      EXPECT_TRUE(fails_with(2, "", outcome) || fails_with(3, "needs at least", outcome));
      EXPECT_EQ(outcome.output.find("internal"), std::string::npos);
    }
  }
}

TEST_F(LargeValues, the_most_of_all_keys_is_refused_in_one_line) {
  std::string all;
  for (std::string const& most : maxima(Family::gpt)) all += " " + most;
  EXPECT_TRUE(fails_with(2, "model.hidden: 5000 layers with hidden = 1000000", plan(all)));
}

TEST_F(LargeValues, more_ranks_than_there_are_are_refused_by_the_parser) {
  for (std::string const ranks : {"9223372036854775807", "1000001", "0", "99999999999999999999"}) {
    auto const outcome = plan("--ranks " + ranks);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output.find("spillway: --ranks: "), 0u) << outcome.output;
  }
  EXPECT_EQ(plan("--ranks 1000000").status, 0);
}

TEST_F(LargeValues, hundreds_of_thousands_of_keys_are_read_and_refused) {
  std::string keys = "{k";
  for (int i = 0; i < 600'000; ++i) keys += fmt::format(",{:x}", i);
  write("keys.yaml", "plan: " + keys + "}\n");
  EXPECT_TRUE(
      fails_with(2, "keys.yaml:1: plan.k: unknown key", limited("plan " + path("keys.yaml"), 2)));
  write("twice.yaml", "plan: " + keys + ",k}\n");
  EXPECT_TRUE(
      fails_with(2, "twice.yaml:1: plan.k: given twice", limited("plan " + path("twice.yaml"), 2)));
  write("long.yaml", std::string(3 << 20, 'x') + "\n");
  auto const outcome = limited("plan " + path("long.yaml"), 2);
  EXPECT_TRUE(fails_with(2, "expected a map of keys, got 'xxx", outcome));
  EXPECT_LT(outcome.output.size(), 2000u);
}

}  // namespace
}  // namespace spillway::test::large_values_test
