// What evaluates or generates reads the weights of a checkpoint, and no more of them than it keeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "plan/compile/compile.hpp"
#include "runtime/tiers.hpp"
#include "state/checkpoints.hpp"
#include "state/restore.hpp"
#include "tests/support/bytes_read.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/unit/state/tiny_state.hpp"

namespace spillway::restored_weights_test {
namespace {

Config config_of(Precision precision, std::int64_t hidden = 160) {
  auto config = test::tiny_config();
  config.precision = precision;
  config.model.hidden = hidden;
  return config;
}

// Inference holds the weights of a model that does not train.
struct Inference {
  explicit Inference(Config const& config)
      : graph(test::tiny_forward(config, Purpose::eval)),
        program(compile_inference({&graph, 1}, 1, /*unified=*/true).front()),
        tiers(host_device(), program.peak_bytes, nullptr),
        model(program, tiers, 0) {}

  Graph graph;
  Program program;
  Tiers tiers;
  ModelState model;
};

class RestoredWeights : public test::InDirectory {
 protected:
  void save(Precision precision) const {
    std::filesystem::remove_all(m_dir / "step-0");
    test::TinyState state(config_of(precision));
    SaveSettings settings;
    save_checkpoint(m_dir, state.model, {}, settings, *m_comm);
  }
  std::int64_t restore(Inference& to) const {
    CheckpointReader reader(m_dir / "step-0");
    auto const before = test::bytes_read();
    restore_weights(reader, nullptr, to.model, *m_comm);
    return test::bytes_read() - before;
  }
  void restore_masters(Inference& to) const {
    CheckpointReader reader(m_dir / "step-0");
    CheckpointMasters masters(reader);
    start_with_weights(masters, to.model, *m_comm);
  }
  static std::int64_t elements_of(ModelState const& model) {
    std::int64_t elements = 0;
    for (auto const& chunk : model.chunks())
      for (auto const& parameter : chunk.parameters)
        elements += element_count(parameter.view.shape);
    return elements;
  }
  static void expect_equal(ModelState& one, ModelState& other) {
    for (auto const& chunk : one.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const elements =
            element_count(chunk.parameters[static_cast<std::size_t>(p)].view.shape);
        EXPECT_TRUE(std::ranges::equal(one.stored(kParameter, chunk.id, p, 0, elements, false),
                                       other.stored(kParameter, chunk.id, p, 0, elements, false)))
            << chunk.name << " " << p;
      }
  }

  std::unique_ptr<Comm> const m_comm = make_single_rank_comm();
};

TEST_F(RestoredWeights, are_the_masters_rounded_to_what_is_kept) {
  for (auto const saved : {Precision::fp32, Precision::bf16}) {
    save(saved);
    for (auto const wanted : {Precision::fp32, Precision::bf16}) {
      SCOPED_TRACE(fmt::format("{} to {}", word(saved), word(wanted)));
      Inference restored(config_of(wanted)), rounded(config_of(wanted));
      restore(restored);
      restore_masters(rounded);
      expect_equal(restored.model, rounded.model);
    }
  }
}

// The shard has few bytes besides values.
TEST_F(RestoredWeights, in_bf16_are_read_without_the_lower_halves_of_masters) {
  save(Precision::bf16);
  Inference bf16(config_of(Precision::bf16)), fp32(config_of(Precision::fp32));
  auto const elements = elements_of(bf16.model);
  auto const bf16_bytes = restore(bf16), fp32_bytes = restore(fp32);
  EXPECT_GE(bf16_bytes, 2 * elements);
  EXPECT_LT(bf16_bytes, 2.2 * static_cast<double>(elements));
  EXPECT_GE(fp32_bytes, 4 * elements);
}

TEST_F(RestoredWeights, of_another_model_are_refused) {
  save(Precision::bf16);
  Inference other(config_of(Precision::bf16, 32));
  auto const refusal = error_of([&] { restore(other); });
  EXPECT_EQ(refusal.status(), Status::bad_input);
  EXPECT_NE(std::string_view(refusal.what()).find("is of another model"), std::string_view::npos)
      << refusal.what();
}

}  // namespace
}  // namespace spillway::restored_weights_test
