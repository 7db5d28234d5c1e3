// The backward pass against central differences of the loss, on tiny fp32 models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/batches.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/sequential_run.hpp"

namespace spillway::backward_numbers_test {
namespace {

using test::SequentialRun;

Config small(Config config) {
  config.model.hidden = 16;
  config.data.sequence = 8;
  // Differences across the kinks of ReLU are not its derivative.
  if (config.model.family == Family::t5) config.model.activation = Activation::gelu_tanh;
  return config;
}

class Model {
 public:
  explicit Model(Graph graph) : m_run(std::move(graph), SequentialRun::Side::serial) {
    test::fill_batch(m_run, m_random);
    std::normal_distribution<double> normal(0, 0.2);
    for (auto const& chunk : m_run.graph().chunks) {
      for (auto const& parameter : chunk.parameters) {
        set_parameter(parameter, [&](std::size_t) {
          return (parameter.init.kind == Init::Kind::ones ? 1.0 : 0.0) + normal(m_random);
        });
      }
    }
  }

  SequentialRun& run() { return m_run; }

  // The sum of weighted losses; forward's own op is elided, so backward computes it.
  double loss() {
    m_run.run(Phase::forward);
    m_run.run(Phase::backward);
    return m_run.data<double>(m_run.graph().known.loss)[0];
  }

  template <class F>
  void set_parameter(Parameter const& parameter, F const& value) {
    std::vector<double> values(static_cast<std::size_t>(element_count(parameter.shape())));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(i);
    m_run.set(parameter, values);
  }

 private:
  std::mt19937 m_random{1};
  SequentialRun m_run;
};

// The derivative along the gradient itself: its norm, by differences of the loss.
void expect_derivative(Model& model, Chunk const& chunk, Parameter const& parameter,
                       std::vector<double> const& gradient) {
  double squares = 0;
  for (auto const x : gradient) squares += x * x;
  double const norm = std::sqrt(squares);
  ASSERT_GT(norm, 0) << parameter.name;
  auto const start = model.run().values(parameter.view);
  double const h = 6e-3;
  auto const loss_at = [&](double distance) {
    model.set_parameter(parameter,
                        [&](std::size_t i) { return start[i] + distance * gradient[i] / norm; });
    return model.loss();
  };
  // Richardson's extrapolation: the error of the fourth order in h is left.
  auto const slope = [&](double d) { return (loss_at(d) - loss_at(-d)) / (2 * d); };
  double const derivative = (4 * slope(h / 2) - slope(h)) / 3;
  model.set_parameter(parameter, [&](std::size_t i) { return start[i]; });
  EXPECT_NEAR(derivative, norm, 5e-4 * norm + 1e-3) << chunk.name << " " << parameter.name;
}

void expect_gradients(Graph graph) {
  Model model(std::move(graph));
  model.loss();
  std::vector<std::vector<double>> gradients;
  auto const& chunks = model.run().graph().chunks;
  for (auto const& chunk : chunks) {
    if (!chunk.trainable) continue;
    for (auto const& parameter : chunk.parameters) {
      auto view = parameter.view;
      view.tensor = chunk.gradient;
      gradients.push_back(model.run().values(view));
    }
  }
  std::size_t next = 0;
  for (auto const& chunk : chunks) {
    if (!chunk.trainable) continue;
    for (auto const& parameter : chunk.parameters) {
      expect_derivative(model, chunk, parameter, gradients[next++]);
    }
  }
}

class BackwardNumbers : public testing::TestWithParam<test::FamilyCase> {
 protected:
  static bool adapts_mlp() {
    return std::ranges::count(GetParam().config.model.lora.targets, "all") > 0;
  }
};

TEST_P(BackwardNumbers, tied_models_gradient_is_the_losses_derivative) {
  expect_gradients(test::tiny_training_graph(small(GetParam().config)));
}

TEST_P(BackwardNumbers, untied_model_without_bias_too) {
  auto config = small(GetParam().config);
  config.model.tied = false;
  config.model.bias = false;
  expect_gradients(test::tiny_training_graph(config));
}

TEST_P(BackwardNumbers, dropout_draws_the_same_numbers_in_both_directions) {
  auto config = small(GetParam().config);
  config.model.dropout = 0.2;
  expect_gradients(test::tiny_training_graph(config));
}

// 16 rows of the decoder's and encoder's sequences of 8 and more, 12 and 4 of them at a time.
TEST_P(BackwardNumbers, by_tiles_of_the_mlp_are_the_losses_derivative) {
  if (adapts_mlp()) GTEST_SKIP() << "its MLPs have no tiles";
  auto config = small(GetParam().config);
  config.batch.mlp_chunk = 12;
  expect_gradients(test::tiny_training_graph(config));
  config.model.dropout = 0.2;
  expect_gradients(test::tiny_training_graph(config));
}

std::vector<std::vector<double>> gradients(Config const& config) {
  Model model(test::tiny_training_graph(config));
  model.loss();
  std::vector<std::vector<double>> all;
  for (auto const& chunk : model.run().graph().chunks) {
    if (!chunk.trainable) continue;
    for (auto const& parameter : chunk.parameters) {
      auto view = parameter.view;
      view.tensor = chunk.gradient;
      all.push_back(model.run().values(view));
    }
  }
  return all;
}

TEST_P(BackwardNumbers, by_tiles_of_the_mlp_differ_by_rounding_alone) {
  if (adapts_mlp()) GTEST_SKIP() << "its MLPs have no tiles";
  auto config = small(GetParam().config);
  config.model.lora.dropout = 0;  // which draws by the number of its op
  auto const whole = gradients(config);
  config.batch.mlp_chunk = 12;
  auto const by_tiles = gradients(config);
  ASSERT_EQ(by_tiles.size(), whole.size());
  for (std::size_t p = 0; p < whole.size(); ++p)
    for (std::size_t i = 0; i < whole[p].size(); ++i)
      ASSERT_NEAR(by_tiles[p][i], whole[p][i], 1e-5 + 1e-5 * std::abs(whole[p][i])) << p;
}

// Attention over segments with T5's bias, whose table two layers share, and the exact GELU.
class BiasedModel {
 public:
  BiasedModel() : m_builder(m_graph) {
    m_graph.arithmetic = test::tiny_arithmetic(small(test::tiny_config()));
    Stack const stack{0, kSequence};
    for (auto const field : {BatchField::tokens, BatchField::targets, BatchField::weights})
      m_builder.add_batch(field, stack);
    m_segments = m_builder.add_batch(BatchField::documents, stack);
    m_graph.known.loss = add("loss", Role::scalar, DType::f64, {2}).tensor;
  }

  Graph build() {
    auto x = begin();
    x = layer("first", x, false, 0);
    x = layer("second", x, true, 3);
    end(x);
    m_builder.finish();
    append_backward(m_graph);
    append_update(m_graph);
    return std::move(m_graph);
  }

 private:
  static constexpr std::int64_t kSequence = 8, kRows = 2 * kSequence, kColumns = 16, kHeads = 2;

  View add(std::string const& name, Role role, DType dtype, Shape shape) {
    return m_builder.add_tensor(name, role, dtype, std::move(shape));
  }
  View activation(std::string const& name, Shape shape) {
    return add(name, Role::activation, DType::f32, std::move(shape));
  }
  View parameter(std::string const& name, Shape shape) {
    return m_builder.add_parameter(m_chunk, name, std::move(shape), {}, false);
  }
  View known(TensorId id) const { return whole(m_graph.tensors[static_cast<std::size_t>(id)]); }
  View batch(BatchField field) const { return known(m_graph.known.of(field)); }
  void begin_block(std::string const& name) {
    m_builder.begin_block(name, true);
    m_chunk = m_builder.add_chunk(name);
  }

  View begin() {
    begin_block("embed");
    auto const x = activation("x", {kRows, kColumns});
    auto const wte = parameter("wte", {test::kTinyVocab, kColumns});
    auto const wpe = parameter("wpe", {kSequence, kColumns});
    m_builder.append<OpKind::embed>(
        "embed", {.tokens = batch(BatchField::tokens), .wte = wte, .wpe = wpe, .x = x},
        EmbedAttributes{kSequence});
    m_bias = activation("distance_bias", {kHeads, 2 * kSequence - 1});
    m_builder.append<OpKind::relative_bias>(
        "bias", {.table = parameter("table", {8, kHeads}), .distance_bias = m_bias},
        RelativeBiasAttributes{kSequence, 6, true});
    m_builder.end_block();
    return x;
  }

  View layer(std::string const& name, View const& x, bool causal, std::int64_t window) {
    begin_block(name);
    auto const qkv = activation("qkv", {kRows, 3 * kColumns}), o = activation("o", x.shape);
    auto const lse = activation("lse", {2, kHeads, kSequence});
    auto const g = activation("g", x.shape), y = activation("y", x.shape);
    m_builder.append<OpKind::matmul>(
        "qkv", {.a = x, .b = parameter("w", {kColumns, 3 * kColumns}), .c = qkv});
    auto const part = [&](int i) { return columns(qkv, i * kColumns, kColumns); };
    m_builder.append<OpKind::attention>("attention",
                                        {.q = part(0),
                                         .k = part(1),
                                         .v = part(2),
                                         .segments_q = m_segments,
                                         .segments_k = m_segments,
                                         .distance_bias = m_bias,
                                         .o = o,
                                         .lse = lse},
                                        AttentionAttributes{.batch = 2,
                                                            .queries = kSequence,
                                                            .keys = kSequence,
                                                            .heads = kHeads,
                                                            .kv_heads = kHeads,
                                                            .head_size = 8,
                                                            .causal = causal,
                                                            .window = window});
    m_builder.append<OpKind::activation>("gelu", {.f = o, .g = g},
                                         ActivationAttributes{Activation::gelu_erf});
    m_builder.append<OpKind::add>("add", {.a = x, .b = g, .c = y});
    m_builder.end_block();
    return y;
  }

  void end(View const& x) {
    begin_block("head");
    m_builder.append<OpKind::lm_head_loss>("loss",
                                           {.x = x,
                                            .w = parameter("head", {test::kTinyVocab, kColumns}),
                                            .targets = batch(BatchField::targets),
                                            .weights = batch(BatchField::weights),
                                            .losses = activation("losses", {kRows}),
                                            .loss = known(m_graph.known.loss)},
                                           LmHeadAttributes{24});
    m_builder.end_block();
  }

  Graph m_graph;
  GraphBuilder m_builder;
  int m_chunk = -1;
  View m_segments, m_bias;
};

TEST(BackwardNumbersOfABias, bias_by_distance_learns_from_all_layers_that_add_it) {
  expect_gradients(BiasedModel().build());
}

INSTANTIATE_TEST_SUITE_P(, BackwardNumbers, testing::ValuesIn(test::family_cases()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::backward_numbers_test
