#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "base/bf16.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/writer.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/search/solve.hpp"
#include "run/prepare.hpp"
#include "runtime/tiers.hpp"
#include "state/checkpoints.hpp"
#include "state/model_state.hpp"
#include "state/restore.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::train_model_state_test {
namespace {

Graph graph(Config const& config) {
  return training_graph(config, test::kTinyVocab, test::tiny_arithmetic(config));
}

// A compiled run's state in an arena of its own.
struct State {
  explicit State(Config const& config)
      : train(graph(config)),
        program(
            compile(train, nullptr,
                    make_plan(train, test::PlanWords{.activations = {"keep"}}, BlockPolicy::keep),
                    1, 1)
                .train),
        tiers(host_device(), program.peak_bytes, nullptr),
        model(program, tiers, 0) {}

  std::vector<float> read(std::string_view part, Chunk const& chunk, int parameter) const {
    auto const& shape = chunk.parameters[static_cast<std::size_t>(parameter)].view.shape;
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    model.read(part, chunk.id, parameter, 0, values);
    return values;
  }

  Graph train;
  Program program;
  Tiers tiers;
  mutable ModelState model;  // reading moves its windows
};

Config config(Precision precision, Precision moments = Precision::fp32) {
  auto result = test::tiny_config();
  result.precision = precision;
  result.optim.moments = moments;
  return result;
}

// Calls body(chunk, parameter's index) for every parameter.
template <class Body>
void for_each_parameter(State const& state, Body const& body) {
  for (auto const& chunk : state.model.chunks()) {
    for (int p = 0; p < std::ssize(chunk.parameters); ++p) body(chunk, p);
  }
}

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Different in every part, parameter and element; with all bits of a float in use.
std::vector<float> pattern(std::string_view part, int chunk, int parameter, std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    auto const x = static_cast<float>(i + 1) * 0.7310585f + static_cast<float>(chunk) * 31.1f;
    values[i] = (i % 2 == 0 ? x : -1 / x) + static_cast<float>(parameter) * 1e-3f +
                static_cast<float>(part.front() + std::ssize(part)) * 1e4f;
  }
  if (size > 3) {
    values[1] = -0.0f;
    values[2] = std::numeric_limits<float>::denorm_min();
    values[3] = std::numeric_limits<float>::max() / 2;
  }
  return values;
}

class Precisions : public testing::TestWithParam<Precision> {};

TEST_P(Precisions, bring_back_every_bit_of_an_fp32_master_and_of_fp32_moments) {
  State state(config(GetParam()));
  std::initializer_list<std::string_view> const parts = {kMaster, "m", "v"};
  for (auto const part : parts) {
    for_each_parameter(state, [&](Chunk const& chunk, int p) {
      auto const size = state.read(part, chunk, p).size();
      state.model.write(part, chunk.id, p, 0, pattern(part, chunk.id, p, size));
    });
  }
  for (auto const part : parts) {  // after all were written: none overlaps another
    for_each_parameter(state, [&](Chunk const& chunk, int p) {
      auto const values = state.read(part, chunk, p);
      EXPECT_TRUE(same_bits(values, pattern(part, chunk.id, p, values.size())))
          << chunk.parameters[static_cast<std::size_t>(p)].name;
    });
  }
}

TEST_P(Precisions, read_and_write_any_piece) {
  State state(config(GetParam()));
  auto const& chunk = state.model.chunks()[1];
  state.model.initialise(1);
  auto expected = state.read(kMaster, chunk, 0);
  std::vector<float> const piece = {1.25f, 1.0f / 3, -7};
  state.model.write(kMaster, chunk.id, 0, 5, piece);
  std::copy(piece.begin(), piece.end(), expected.begin() + 5);
  EXPECT_TRUE(same_bits(state.read(kMaster, chunk, 0), expected));
  std::vector<float> back(2);
  state.model.read(kMaster, chunk.id, 0, 6, back);
  EXPECT_TRUE(same_bits(back, {piece[1], piece[2]}));
}

TEST_P(Precisions, start_from_the_same_masters_for_a_seed_and_from_others_for_another) {
  State one(config(GetParam())), other(config(Precision::fp32)), reseeded(config(GetParam()));
  one.model.initialise(4);
  other.model.initialise(4);
  reseeded.model.initialise(5);
  std::int64_t drawn = 0;
  for_each_parameter(one, [&](Chunk const& chunk, int p) {
    auto const values = one.read(kMaster, chunk, p);
    EXPECT_TRUE(same_bits(values, other.read(kMaster, chunk, p)));
    auto const& parameter = chunk.parameters[static_cast<std::size_t>(p)];
    if (parameter.init.kind != Init::Kind::normal) return;
    ++drawn;
    EXPECT_FALSE(same_bits(values, reseeded.read(kMaster, chunk, p))) << parameter.name;
  });
  EXPECT_GT(drawn, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Precisions, testing::Values(Precision::bf16, Precision::fp32),
                         [](auto const& info) {
                           return info.param == Precision::bf16 ? "bf16" : "fp32";
                         });

TEST(ModelState, starts_with_the_family_s_distributions_and_moments_of_zero) {
  State state(config(Precision::bf16));
  state.model.initialise(9);
  for_each_parameter(state, [&](Chunk const& chunk, int p) {
    auto const& parameter = chunk.parameters[static_cast<std::size_t>(p)];
    auto const values = state.read(kMaster, chunk, p);
    double const n = static_cast<double>(values.size());
    double sum = 0, squares = 0;
    for (double const x : values) sum += x;
    for (double const x : values) squares += (x - sum / n) * (x - sum / n);
    bool const normal = parameter.init.kind == Init::Kind::normal;
    double const mean = parameter.init.kind == Init::Kind::ones ? 1 : 0;
    double const std = normal ? parameter.init.std : 0;
    EXPECT_NEAR(sum / n, mean, 5 * std / std::sqrt(n)) << parameter.name;
    EXPECT_NEAR(std::sqrt(squares / n), std, 5 * std / std::sqrt(2 * n)) << parameter.name;
    for (auto const part : {"m", "v"}) {
      EXPECT_TRUE(same_bits(state.read(part, chunk, p), std::vector<float>(values.size())));
    }
  });
}

TEST(ModelState, draws_no_two_parameters_alike) {
  State state(config(Precision::fp32));
  state.model.initialise(2);
  std::vector<float> firsts;
  for_each_parameter(state, [&](Chunk const& chunk, int p) {
    auto const& init = chunk.parameters[static_cast<std::size_t>(p)].init;
    if (init.kind != Init::Kind::normal) return;
    firsts.push_back(state.read(kMaster, chunk, p)[0] / static_cast<float>(init.std));
  });
  std::ranges::sort(firsts);
  for (std::size_t i = 1; i < firsts.size(); ++i) EXPECT_GT(firsts[i] - firsts[i - 1], 1e-5f);
}

// Such tensors are drawn in several pieces. A run of a seed begins alike in every version.
TEST(ModelState, draws_of_a_seed_are_these) {
  auto large = config(Precision::fp32);
  large.model.layers = 1, large.model.hidden = 320, large.model.heads = 4;
  State state(large);
  state.model.initialise(3);
  struct Drawn {
    std::size_t element;
    double fc, proj;
  };
  Drawn const drawn[] = {{0, -0.01218703, -0.01710581},      {1, -0.02617106, -0.00357653},
                         {65535, -0.02118010, -0.00828895},  {65536, 0.00533506, 0.00360492},
                         {65537, 0.01433476, -0.00339726},   {131072, 0.00403244, 0.00266454},
                         {200001, 0.00362943, 0.00778198},   {262143, -0.00134782, -0.02684268},
                         {327680, -0.04671316, -0.00741150}, {409598, -0.00846298, -0.00242866},
                         {409599, -0.01700232, -0.00252874}};
  auto const layer = std::ranges::find(state.model.chunks(), "h.0", &Chunk::name);
  auto const values = [&](std::string_view name) {
    auto const found = std::ranges::find(layer->parameters, name, &Parameter::name);
    return state.read(kMaster, *layer, static_cast<int>(found - layer->parameters.begin()));
  };
  auto const fc = values("transformer.h.0.mlp.c_fc.weight"),
             proj = values("transformer.h.0.mlp.c_proj.weight");
  ASSERT_EQ(fc.size(), 409'600u);
  ASSERT_EQ(proj.size(), 409'600u);
  for (auto const& [element, of_fc, of_proj] : drawn) {
    EXPECT_NEAR(fc[element], of_fc, 1e-7) << element;
    EXPECT_NEAR(proj[element], of_proj, 1e-7) << element;
  }
}

TEST(ModelState, has_no_parts_but_those_of_its_chunks) {
  State state(config(Precision::fp32));
  std::vector<float> one(1);
  for (auto const* part : {"remainder", "master2", "w"}) {
    EXPECT_EQ(test::mistake([&] { state.model.read(part, 1, 0, 0, one); }),
              state.model.chunks()[1].name + ": has no " + part);
  }
}

TEST(ModelState, keeps_bf16_moments_exactly_as_the_update_left_them) {
  State state(config(Precision::bf16, Precision::bf16));
  auto const& chunk = state.model.chunks()[0];
  std::vector<float> const representable = {1.5f, -0.0078125f, 0x1.8p100f, 0};
  state.model.write("v", chunk.id, 0, 0, representable);
  std::vector<float> back(4);
  state.model.read("v", chunk.id, 0, 0, back);
  EXPECT_TRUE(same_bits(back, representable));
}

// The state's masters, named and shaped as the state has them.
std::vector<TensorEntry> entries_of(State const& state, ElementType type) {
  std::vector<TensorEntry> entries;
  for_each_parameter(state, [&](Chunk const& chunk, int p) {
    auto const& parameter = chunk.parameters[static_cast<std::size_t>(p)];
    entries.push_back({parameter.name, type, parameter.view.shape});
  });
  return entries;
}

class Weights : public testing::TestWithParam<ElementType> {
 protected:
  ~Weights() override { std::filesystem::remove_all(m_directory); }

  std::filesystem::path const m_directory =
      std::filesystem::path(testing::TempDir()) / "weights_of_another_format";
  std::unique_ptr<Comm> const m_comm = make_single_rank_comm();
};

// The largest tensor is read in several pieces.
TEST_P(Weights, of_another_format_become_masters) {
  auto fp32 = config(Precision::fp32), bf16 = config(Precision::bf16);
  fp32.model.hidden = bf16.model.hidden = 160;
  State there(fp32), here(bf16);
  there.model.initialise(7);
  SafetensorsWriter writer(m_directory, TensorList(entries_of(there, GetParam())), 100'000);
  std::size_t number = 0;
  for_each_parameter(there, [&](Chunk const& chunk, int p) {
    write_floats(writer, number++, 0, there.read(kMaster, chunk, p));
  });
  writer.finish();
  SafetensorsReader reader(m_directory);
  EXPECT_GT(reader.files(), 1u);
  start_with_weights(reader, here.model, *m_comm);
  for_each_parameter(there, [&](Chunk const& chunk, int p) {
    auto expected = there.read(kMaster, chunk, p);
    if (GetParam() == ElementType::bf16)
      for (auto& x : expected) x = to_float(to_bf16(x));
    EXPECT_TRUE(same_bits(here.read(kMaster, chunk, p), expected));
    EXPECT_TRUE(same_bits(here.read("m", chunk, p), std::vector<float>(expected.size())));
  });
}

TEST_P(Weights, of_another_model_are_refused_by_name) {
  State state(config(Precision::fp32));
  auto const refusal = [&](std::vector<TensorEntry> entries) -> std::string {
    SafetensorsWriter writer(m_directory, TensorList(std::move(entries)));
    for (std::size_t i = 0; i < writer.tensors().size(); ++i)
      writer.write(i, 0, std::vector<std::byte>(size_bytes(writer.tensors()[i])));
    writer.finish();
    SafetensorsReader reader(m_directory);
    std::filesystem::remove_all(m_directory);
    return test::refused_with([&] { start_with_weights(reader, state.model, *m_comm); });
  };
  auto const expect = [](std::string const& text, std::string const& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  auto const entries = entries_of(state, GetParam());
  auto missing = entries, more = entries, other = entries;
  missing.back().name = "other";
  more.push_back({"other", GetParam(), {1}});
  other.back().shape = {3, 2};
  expect(refusal(missing), "it has no model/" + entries.back().name);
  expect(refusal(more), fmt::format("{} parameters there, {} here", more.size(), entries.size()));
  expect(refusal(other), entries.back().name + " is [3, 2] there, [");
}

INSTANTIATE_TEST_SUITE_P(Of, Weights, testing::Values(ElementType::f32, ElementType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace spillway::train_model_state_test
