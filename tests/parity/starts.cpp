// Fresh models of all families know nothing: the first loss is about that of a guess among all
// words, whatever the width and whether the head is the table of words.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "config/assign.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/sequential_run.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::starts_test {
namespace {

constexpr std::int64_t kVocab = 8192, kRows = 64;

struct Start {
  char const* name;
  std::vector<std::string> keys;
};
void PrintTo(Start const& start, std::ostream* out) {
  *out << start.name;
}

Start const kStarts[] = {
    {"Gpt", {"model.family=gpt"}},
    {"GptWithoutBiases", {"model.family=gpt", "model.bias=false"}},
    {"Bert", {"model.family=bert"}},
    {"T5", {"model.family=t5"}},
    {"T5Gated", {"model.family=t5", "model.gated=true"}},
    {"T5Scaled", {"model.family=t5", "model.gated=true", "model.scale_output=true"}},
    {"T5NotScaled", {"model.family=t5", "model.scale_output=false"}},
    {"Llama", {"model.family=llama"}},
    {"Qwen2", {"model.family=llama", "model.kv_heads=2", "model.qkv_bias=true"}},
    {"Qwen3", {"model.family=llama", "model.kv_heads=2", "model.qk_norm=true"}},
    {"Mistral", {"model.family=llama", "model.kv_heads=2", "model.window=16"}},
};

// start, hidden, tied
class Starts : public ::testing::TestWithParam<std::tuple<Start, int, bool>> {};

void initialise(SequentialRun& run) {
  std::mt19937_64 random(3);
  for (auto const& chunk : run.graph().chunks) {
    for (auto const& [name, view, init, decay, quantized] : chunk.parameters) {
      std::vector<double> values(static_cast<std::size_t>(element_count(view.shape)),
                                 init.kind == Init::Kind::ones ? 1 : 0);
      std::normal_distribution<double> normal(0, init.std);
      if (init.kind == Init::Kind::normal)
        for (auto& value : values) value = normal(random);
      run.set(view, values);
    }
  }
}

// Any words, each of which counts, in one document.
void fill_batch(SequentialRun& run) {
  std::minstd_rand random(5);
  for (auto const& [field, stack, id] : run.graph().known.batch) {
    if (field == BatchField::weights) {
      std::ranges::fill(run.data<float>(id), 1.0f);
      continue;
    }
    bool const words = field == BatchField::tokens || field == BatchField::targets;
    for (auto& value : run.data<std::int32_t>(id))
      value = words ? static_cast<std::int32_t>(random() % kVocab) : 0;
  }
}

TEST_P(Starts, with_the_loss_of_a_guess) {
  auto const& [start, hidden, tied] = GetParam();
  auto config = tiny_config();
  Origins origins;
  for (auto const& key : start.keys) assign_override(config, origins, key);
  config.model.hidden = hidden;
  config.model.heads = 4;
  config.model.tied = tied;
  config.data.sequence = kRows;
  if (config.model.family == Family::t5) config.data.target_length = kRows;
  auto const arithmetic = tiny_arithmetic(config);
  SequentialRun run(build_model(config, kVocab, arithmetic, Purpose::eval),
                    SequentialRun::Side::kernel);
  initialise(run);
  fill_batch(run);
  run.run(Phase::forward);
  auto const loss = run.data<double>(run.graph().known.loss);
  auto const guess = std::log(static_cast<double>(kVocab));
  EXPECT_NEAR(loss[0] / loss[1], guess, 0.05 * guess);
}

std::string name_of(::testing::TestParamInfo<Starts::ParamType> const& info) {
  auto const& [start, hidden, tied] = info.param;
  return start.name + std::string("_") + std::to_string(hidden) + (tied ? "_tied" : "_untied");
}

// The larger widths take most of the time, and an ordinary run has one of them.
std::vector<int> widths() {
  if (takes_all()) return {64, 256, 768};
  return {64, turn_of(2) == 0 ? 256 : 768};
}

INSTANTIATE_TEST_SUITE_P(Of, Starts,
                         ::testing::Combine(::testing::ValuesIn(kStarts),
                                            ::testing::ValuesIn(widths()), ::testing::Bool()),
                         name_of);

}  // namespace
}  // namespace spillway::test::starts_test
