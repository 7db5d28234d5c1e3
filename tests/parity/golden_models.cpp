// Small models of all families against PyTorch's fp64 results: see tests/goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "config/keys.hpp"
#include "kernels/host/product.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/sequential_run.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::golden_models_test {
namespace {

using test::Golden, test::SequentialRun;

// Who computes: the kernels that are fastest here, which are a device's if there is a KernelDevice,
// those of processors without units for matrices or bf16, or serial loops.
enum class Way : std::uint8_t { fastest, portable, serial };
std::string name_of(Way way) {
  return way == Way::fastest ? "kernel" : way == Way::portable ? "portable" : "serial";
}

// Whatever settings of a golden are keys of ours, under their own names.
Config config_of(Golden const& golden, Precision precision) {
  auto config = test::tiny_config();
  for (auto const& key : keys_of(config)) {
    auto const name = std::string(key.name.substr(key.name.find('.') + 1));
    bool const ours = key.name.starts_with("model.") || key.name.starts_with("data.") ||
                      key.name.starts_with("optim.");
    if (!ours || !golden.has_setting(name)) continue;
    auto text = golden.word(name);
    bool const is_flag = std::holds_alternative<BoolField>(key.field) || name == "scale_output";
    if (is_flag) text = text == "1" ? "true" : "false";
    bool const is_unset = text == "0" && takes_word(key, "none");
    read_key(key, parse_yaml(is_unset ? "none" : text, name), {name, std::string(key.name)});
  }
  config.data.pack = golden.has_tensor("documents") || golden.has_tensor("documents/0");
  config.precision = precision;
  return config;
}

// A model with the golden's parameters, and what it is compared with.
class GoldenRun {
 public:
  GoldenRun(Golden const& golden, Way way, Precision precision, Purpose purpose = Purpose::train)
      : m_golden(golden),
        m_run(graph_of(golden, way, precision, purpose),
              way == Way::serial ? SequentialRun::Side::serial : SequentialRun::Side::kernel) {
    for_each_parameter([&](Chunk const&, Parameter const& parameter) { set(parameter, 1); });
  }

  SequentialRun& run() { return m_run; }
  WellKnown const& known() const { return m_run.graph().known; }
  View view(TensorId id) const { return whole(m_run.graph().tensors[id]); }

  template <class F>
  void for_each_parameter(F const& f) const {
    for (auto const& chunk : m_run.graph().chunks)
      for (auto const& parameter : chunk.parameters) f(chunk, parameter);
  }

  void set(Parameter const& parameter, double factor) {
    auto values = m_golden.values("parameter/" + parameter.name);
    for (auto& x : values) x *= factor;
    m_run.set(parameter.view, values);
  }

  // To generate, of the first sequence alone.
  void set_batch(std::int64_t batch) {
    for (auto const& [field, stack, tensor] : known().batch) {
      auto name = std::string(row_of(field).name);
      if (field == BatchField::position) {
        m_run.set(view(tensor), std::vector{m_golden.setting("position")});
        continue;
      }
      if (m_run.graph().purpose == Purpose::generate && field == BatchField::positions) {
        auto const positions = m_run.data<std::int32_t>(tensor);
        std::iota(positions.begin(), positions.end(), 0);
        continue;
      }
      if (!m_golden.has_tensor(name)) name += "/" + std::to_string(stack);
      auto values = m_golden.values(name, batch);
      values.resize(static_cast<std::size_t>(element_count(view(tensor).shape)));
      m_run.set(view(tensor), values);
    }
  }

  // Returns the mean loss of the batch; gradients are of the sum.
  double forward_and_backward() {
    m_run.run(Phase::forward);
    m_run.run(Phase::backward);
    auto const loss = m_run.data<double>(known().loss);
    return loss[0] / loss[1];
  }

  // Does what `commit` does. Returns the norm of the mean's gradient.
  double write_control(int step) {
    auto const weights = m_run.data<double>(known().loss)[1];
    double squares = 0;
    for (auto const x : m_run.data<double>(known().norms)) squares += x;
    double const gradient_norm = std::sqrt(squares) / weights;
    auto const control = m_run.data<double>(known().control);
    std::ranges::fill(control, 0.0);
    control[control_go] = 1;
    control[control_gradient_scale] =
        std::min(1.0, m_golden.setting("clip") / gradient_norm) / weights;
    control[control_learning_rate] = m_golden.setting("lr");
    control[control_bias1] = 1 - std::pow(m_golden.setting("beta1"), step + 1);
    control[control_bias2] = 1 - std::pow(m_golden.setting("beta2"), step + 1);
    return gradient_norm;
  }

 private:
  static Graph graph_of(Golden const& golden, Way way, Precision precision, Purpose purpose) {
    auto const config = config_of(golden, precision);
    auto arithmetic = test::tiny_arithmetic(config);
    if (way == Way::portable) arithmetic.isa = host::kPortable;
    if (golden.has_setting("micro")) arithmetic.micro = golden.integer("micro");
    auto const vocab = golden.integer("vocab");
    if (purpose == Purpose::generate) {
      auto const rows = golden.integer(golden.has_setting("target") ? "target" : "sequence");
      return build_generator(config, vocab, arithmetic, {rows, rows, golden.integer("sequence")});
    }
    auto graph = build_model(config, vocab, arithmetic, purpose);
    append_backward(graph);
    append_update(graph);
    return graph;
  }

  Golden const& m_golden;
  SequentialRun m_run;
};

double norm(std::vector<double> const& values) {
  double sum = 0;
  for (auto const x : values) sum += x * x;
  return std::sqrt(sum);
}

double norm_of_all(GoldenRun const& model, Golden const& golden) {
  double squares = 0;
  model.for_each_parameter([&](Chunk const&, Parameter const& parameter) {
    squares += std::pow(norm(golden.values("gradient/" + parameter.name)), 2);
  });
  return std::sqrt(squares);
}

// How far each parameter's gradient is off, by its name, as a part of its norm. One that vanishes,
// as those of BERT's key biases do, is held to the norm of all.
std::map<std::string, double> deviations(GoldenRun& model, Golden const& golden) {
  std::map<std::string, double> result;
  double const all = norm_of_all(model, golden);
  auto const weights = model.run().data<double>(model.known().loss)[1];
  model.for_each_parameter([&](Chunk const& chunk, Parameter const& parameter) {
    auto view = parameter.view;
    view.tensor = chunk.gradient;
    auto difference = model.run().values(view);
    auto const reference = golden.values("gradient/" + parameter.name);
    for (std::size_t i = 0; i < reference.size(); ++i)
      difference[i] = difference[i] / weights - reference[i];
    auto const own = norm(reference);
    result[parameter.name] = norm(difference) / (own < 1e-6 * all ? all : own);
  });
  return result;
}

std::string golden_path(char const* name) {
  return std::string(SPILLWAY_SOURCE_DIR "/tests/goldens/") + name;
}

class GoldenModels : public testing::TestWithParam<std::tuple<char const*, Way>> {
 protected:
  void SetUp() override {
    if (test::kernel_device() != nullptr && way != Way::fastest)
      GTEST_SKIP() << "the host's kernels are not asked for";
  }

  void expect_gradients(GoldenRun& model, double bound) const {
    for (auto const& [name, deviation] : deviations(model, golden))
      EXPECT_LT(deviation, bound) << name;
  }

  // The worst that rounding did to a value in 16 draws of errors after every operation: a result's
  // of one roundoff, a sum's as large as any order of its terms makes it. No machine's results
  // enter (tests/goldens/random_rounding.py).
  double bound(std::string const& name, std::size_t at = 0) const {
    return golden.values("rounding/" + name)[at];
  }
  // In bf16 nearly all errors are of single results, which are drawn as large as they are. A run is
  // one draw more: the worst of others is no bound for it, twice that is.
  double bf16_bound(std::string const& name) const { return 2 * bound("bf16_" + name); }

  Golden const golden{golden_path(std::get<0>(GetParam()))};
  Way const way = std::get<1>(GetParam());
};

TEST_P(GoldenModels, loss_and_gradients_match_in_fp32) {
  GoldenRun model(golden, way, Precision::fp32);
  model.set_batch(0);
  EXPECT_NEAR(model.forward_and_backward(), golden.values("losses")[0], bound("losses"));
  expect_gradients(model, bound("gradients"));
}

TEST_P(GoldenModels, loss_and_gradients_match_in_bf16) {
  GoldenRun model(golden, way, Precision::bf16);
  model.set_batch(0);
  EXPECT_NEAR(model.forward_and_backward(), golden.values("losses")[0], bf16_bound("loss"));
  expect_gradients(model, bf16_bound("gradients"));
}

TEST_P(GoldenModels, ten_adam_w_steps_follow_py_torch) {
  GoldenRun model(golden, way, Precision::fp32);
  auto const losses = golden.values("losses"), norms = golden.values("norms");
  for (int step = 0; step < golden.integer("steps"); ++step) {
    auto const at = static_cast<std::size_t>(step);
    model.set_batch(step % golden.integer("batches"));
    EXPECT_NEAR(model.forward_and_backward(), losses[at], bound("losses", at)) << step;
    model.run().run(OpKind::square_norm);
    EXPECT_NEAR(model.write_control(step), norms[at], bound("norms", at)) << step;
    model.run().run(OpKind::adamw);
  }
}

TEST_P(GoldenModels, logits_of_one_row_match) {
  GoldenRun model(golden, way, Precision::fp32, Purpose::generate);
  model.set_batch(0);
  model.run().run(Phase::forward);
  auto const reference = golden.values("logits");
  auto const logits = model.run().values(model.view(model.known().logits));
  for (std::size_t i = 0; i < reference.size(); ++i)
    EXPECT_NEAR(logits[i], reference[i], bound("logits") * std::max(1.0, std::abs(reference[i])));
}

// What the other tests compare would show it.
TEST_P(GoldenModels, a_weight_that_is_off_by_a_tenth_shows) {
  if (way != Way::fastest) GTEST_SKIP();
  GoldenRun model(golden, way, Precision::fp32);
  model.set_batch(0);
  auto const loss = golden.values("losses")[0];
  int shown = 0, all = 0;
  model.for_each_parameter([&](Chunk const&, Parameter const& parameter) {
    model.set(parameter, 1.1);
    auto const perturbed = model.forward_and_backward();
    model.set(parameter, 1);
    EXPECT_NEAR(perturbed, golden.values("perturbed_loss/" + parameter.name)[0],
                bound("perturbed_loss"));
    ++all;
    shown += std::abs(perturbed - loss) > 1e-3;
  });
  EXPECT_GT(shown, all / 2);
}

TEST_P(GoldenModels, decay_the_groups_of_transformers_trainer_where_asked) {
  if (way != Way::fastest) GTEST_SKIP();
  auto config = config_of(golden, Precision::fp32);
  config.optim.decay_embeddings = true;
  auto const graph =
      build_model(config, golden.integer("vocab"), test::tiny_arithmetic(config), Purpose::train);
  std::set<std::string> decayed, expected;
  for (auto const& chunk : graph.chunks)
    for (auto const& parameter : chunk.parameters)
      if (parameter.decay) decayed.insert(parameter.name);
  std::ifstream file(SPILLWAY_SOURCE_DIR "/tests/goldens/decay_groups.txt");
  for (std::string name, parameter; file >> name >> parameter;)
    if (name == std::get<0>(GetParam())) expected.insert(parameter);
  EXPECT_EQ(decayed, expected);
}

constexpr std::array kGoldens = {"gpt",          "gpt2_packed",         "gpt2_untied", "llama",
                                 "llama_llama3", "llama_linear_packed", "qwen2",       "qwen3",
                                 "mistral",      "mistral_packed",      "bert",        "t5_v1_0",
                                 "t5_v1_1"};

double root_mean_square(std::map<std::string, double> const& values) {
  double squares = 0;
  for (auto const& [name, x] : values) squares += x * x;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// One model's deviation and PyTorch's are single draws, each up to twice the other's; the mean over
// all models is not.
TEST(Bf16Gradients, are_on_average_no_further_off_than_those_of_py_torchs_bf16_model) {
  for (auto const way : {Way::fastest, Way::portable}) {
    if (test::kernel_device() != nullptr && way != Way::fastest) continue;
    double logarithms = 0;
    for (auto const* name : kGoldens) {
      Golden const golden(golden_path(name));
      GoldenRun model(golden, way, Precision::bf16);
      model.set_batch(0);
      model.forward_and_backward();
      auto const own = deviations(model, golden);
      auto theirs = own;
      for (auto& [parameter, x] : theirs) x = golden.values("bf16_spread/" + parameter)[0];
      logarithms += std::log(root_mean_square(own) / root_mean_square(theirs));
    }
    EXPECT_LT(std::exp(logarithms / kGoldens.size()), 1) << name_of(way);
  }
}

INSTANTIATE_TEST_SUITE_P(, GoldenModels,
                         testing::Combine(testing::ValuesIn(kGoldens),
                                          testing::Values(Way::fastest, Way::portable,
                                                          Way::serial)),
                         [](auto const& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  name_of(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace spillway::golden_models_test
