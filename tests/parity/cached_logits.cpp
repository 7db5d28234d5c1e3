// Logits of models that keep keys and values from step to step, against those that a graph to
// evaluate has of the whole sequence, at every position and for any cut into steps.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "base/normal.hpp"
#include "base/philox.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/sequential_run.hpp"

namespace spillway::test::cached_logits_test {
namespace {

using Tokens = std::vector<std::int32_t>;
using Rows = std::vector<std::vector<double>>;  // logits, a row for each token

constexpr std::int64_t kRows = 23, kInputs = 13;  // of the decoder, of T5's encoder

Tokens some_tokens(std::int64_t n, std::uint64_t seed) {
  Tokens tokens;
  for (std::int64_t i = 0; i < n; ++i) {
    auto const draw = philox(seed, 0, static_cast<std::uint64_t>(i)).x[0];
    tokens.push_back(static_cast<std::int32_t>(draw % kTinyVocab));
  }
  return tokens;
}

void set_parameters(SequentialRun& run) {
  std::uint64_t number = 0;
  for (auto const& chunk : run.graph().chunks) {
    for (auto const& parameter : chunk.parameters) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < element_count(parameter.shape()); ++i) {
        auto const block = philox(3, number, static_cast<std::uint64_t>(i));
        double const mean = parameter.init.kind == Init::Kind::ones ? 1 : 0;
        values.push_back(mean + 0.3 * normal_pair(block.x[0], block.x[1]).cos);
      }
      run.set(parameter, values);
      ++number;
    }
  }
}

template <BatchField field>
void fill_batch(SequentialRun& run, int stack, Tokens const& values) {
  auto const tensor = run.graph().known.of(field, stack);
  if (tensor >= 0) std::ranges::copy(values, run.data<std::int32_t>(tensor).begin());
}

Config with_lengths(Config config) {
  bool const encodes = config.model.family == Family::t5;
  config.data.sequence = encodes ? kInputs : kRows;
  if (encodes) config.data.target_length = kRows;
  config.data.pack = false;
  return config;
}

// The products of the rows before the loss with the head's matrix, in fp64.
Rows whole_logits(Config const& config, Tokens const& tokens, Tokens const& inputs,
                  SequentialRun::Side side) {
  auto arithmetic = tiny_arithmetic(config);
  arithmetic.micro = 1;
  SequentialRun run(build_model(config, kTinyVocab, arithmetic, Purpose::eval), side);
  set_parameters(run);
  int const stack = inputs.empty() ? 0 : 1;
  if (stack == 1) fill_batch<BatchField::tokens>(run, 0, inputs);
  fill_batch<BatchField::tokens>(run, stack, tokens);
  for (int const one : {0, stack})
    fill_batch<BatchField::documents>(run, one, Tokens(one == stack ? kRows : kInputs, 0));
  fill_batch<BatchField::targets>(run, stack, tokens);
  auto const weights = run.data<float>(run.graph().known.of(BatchField::weights, stack));
  std::ranges::fill(weights, 1.0f);
  run.run(Phase::forward);

  auto const& head = run.graph().ops.back();
  auto const x = run.values(head.inputs[0]), w = run.values(head.inputs[1]);
  auto const columns = static_cast<std::size_t>(head.inputs[0].shape[1]);
  double const scale = attributes_of<LmHeadAttributes>(head).scale;
  Rows rows(kRows, std::vector<double>(kTinyVocab));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t word = 0; word < rows[row].size(); ++word)
      rows[row][word] =
          scale * std::inner_product(x.begin() + row * columns, x.begin() + (row + 1) * columns,
                                     w.begin() + word * columns, 0.0);
  return rows;
}

// Runs graphs that share their caches, of which it copies what one has kept to the next.
class CachedRun {
 public:
  CachedRun(Config const& config, Tokens inputs, SequentialRun::Side side)
      : m_config(config), m_inputs(std::move(inputs)), m_side(side) {}

  // The logits of the last of these tokens, which are at `position` and after.
  std::vector<double> step(Tokens const& tokens, std::int64_t position) {
    bool const encodes = position == 0;
    auto& run = graph(std::ssize(tokens), encodes);
    int const stack = m_inputs.empty() ? 0 : 1;
    if (m_last) copy_caches(*m_last, run);
    if (stack == 1) fill_batch<BatchField::tokens>(run, 0, m_inputs);
    fill_batch<BatchField::tokens>(run, stack, tokens);
    Tokens positions(tokens.size());
    std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
    fill_batch<BatchField::positions>(run, stack, positions);
    fill_batch<BatchField::position>(run, stack, {static_cast<std::int32_t>(tokens.size()) - 1});
    run.run(Phase::forward);
    m_last = &run;
    return run.values(whole(run.graph().tensors[run.graph().known.logits]));
  }

 private:
  SequentialRun& graph(std::int64_t rows, bool encodes) {
    auto& run = m_runs[{rows, encodes}];
    if (run) return *run;
    Decoding const decoding{rows, kRows, std::ssize(m_inputs), encodes};
    run = std::make_unique<SequentialRun>(
        build_generator(m_config, kTinyVocab, tiny_arithmetic(m_config), decoding), m_side);
    set_parameters(*run);
    return *run;
  }

  static void copy_caches(SequentialRun& from, SequentialRun& to) {
    for (auto const& tensor : from.graph().tensors) {
      if (tensor.role != Role::cache) continue;
      EXPECT_EQ(to.graph().tensors[tensor.id].name, tensor.name);
      std::ranges::copy(from.data<std::byte>(tensor.id), to.data<std::byte>(tensor.id).begin());
    }
  }

  Config const& m_config;
  Tokens m_inputs;
  SequentialRun::Side m_side;
  std::map<std::pair<std::int64_t, bool>, std::unique_ptr<SequentialRun>> m_runs;
  SequentialRun* m_last = nullptr;
};

void expect_close(std::vector<double> const& logits, std::vector<double> const& expected,
                  std::string const& where) {
  double largest = 0;
  for (auto const x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(logits[i], expected[i], 1e-5 * largest) << where << ", word " << i;
}

class CachedLogits : public testing::TestWithParam<FamilyCase> {
 protected:
  Config const m_config = with_lengths(GetParam().config);
  bool const m_encodes = m_config.model.family == Family::t5;
  Tokens const m_tokens = some_tokens(kRows, 1);
  Tokens const m_inputs = m_encodes ? some_tokens(kInputs, 2) : Tokens{};

  // Steps of `first` rows and then of `rows` each; at the end as many rows again as it takes.
  void expect_whole_logits(std::int64_t first, std::int64_t rows, SequentialRun::Side side) {
    auto const expected = whole_logits(m_config, m_tokens, m_inputs, side);
    CachedRun run(m_config, m_inputs, side);
    for (std::int64_t kept = 0; kept < kRows;) {
      auto const step = kept == 0 ? first : rows;
      auto const position = std::min(kept, kRows - step);
      auto const begin = m_tokens.begin() + position;
      auto const logits = run.step({begin, begin + step}, position);
      kept = position + step;
      expect_close(logits, expected[static_cast<std::size_t>(kept - 1)],
                   std::to_string(rows) + " rows, token " + std::to_string(kept - 1));
    }
  }
};

TEST_P(CachedLogits, are_those_of_the_whole_sequence) {
  for (auto const& [first, rows] : {std::pair{1, 1}, {kRows, 1}, {9, 1}, {4, 4}, {7, 7}})
    expect_whole_logits(first, rows, SequentialRun::Side::kernel);
}

TEST_P(CachedLogits, of_the_serial_reference_are_those_of_the_whole_sequence) {
  expect_whole_logits(9, 1, SequentialRun::Side::serial);
}

// Those that generate a row at a time.
std::vector<FamilyCase> decoders() {
  auto cases = family_cases();
  std::erase_if(cases,
                [](FamilyCase const& one) { return one.config.model.family == Family::bert; });
  auto tied = cases.front();
  tied.name = "LlamaTied";
  tied.config.model.family = Family::llama;
  tied.config.model.heads = 4, tied.config.model.kv_heads = 1;
  cases.push_back(tied);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, CachedLogits, testing::ValuesIn(decoders()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test::cached_logits_test
