// State in a spill file is looked at through windows: beside them, steps and moves change it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "device/host/host_device.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/compile/compile.hpp"
#include "run/prepare.hpp"
#include "runtime/tiers.hpp"
#include "state/checkpoint_tensors.hpp"
#include "state/checkpoints.hpp"
#include "state/model_state.hpp"
#include "state/restore.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/unit/state/tiny_state.hpp"

namespace spillway::test::model_on_a_drive_test {
namespace {

constexpr std::string_view kParts[] = {kMaster, "m", "v"};

// All parameters and moments of a tiny model, in a spill file.
class ModelOnADrive : public testing::TestWithParam<Precision> {
 protected:
  explicit ModelOnADrive(Config config = tiny_config()) {
    config.precision = GetParam();
    m_config = config;
    m_graph = training_graph(config, kTinyVocab, tiny_arithmetic(config));
    PlanWords const words{
        .activations = {"keep"}, .parameters = {"nvme"}, .optimizer = {"nvme"}, .update = {"host"}};
    m_program = compile(m_graph, nullptr, make_plan(m_graph, words, BlockPolicy::keep), 1, 1).train;
    m_spill.emplace(testing::TempDir(), m_program.peak_bytes[Tier::nvme], SpillSettings{});
    m_tiers.emplace(host_device(), m_program.peak_bytes, &*m_spill);
  }
  ModelState model(bool is_there) { return {m_program, *m_tiers, 0, is_there}; }

  // Calls body(part, chunk, parameter, number of elements), a part of all chunks after the other.
  template <class Body>
  void for_each(Body const& body) const {
    for (auto const part : kParts)
      for (Chunk const& chunk : m_program.chunks)
        for (int p = 0; p < std::ssize(chunk.parameters); ++p)
          body(part, chunk.id, p,
               static_cast<std::size_t>(
                   element_count(chunk.parameters[static_cast<std::size_t>(p)].view.shape)));
  }
  // Differ in every part, chunk and parameter.
  static std::vector<float> values(std::string_view part, int chunk, int p, std::size_t size,
                                   float round) {
    std::vector<float> result(size);
    for (std::size_t i = 0; i < size; ++i)
      result[i] = round + static_cast<float>(part.front() + std::ssize(part)) +
                  0.25f * static_cast<float>(p) + static_cast<float>(i) / 1024 +
                  31 * static_cast<float>(chunk);
    return result;
  }
  void write(ModelState& model, float round) const {
    for_each([&](auto part, int chunk, int p, std::size_t size) {
      model.write(part, chunk, p, 0, values(part, chunk, p, size, round));
    });
    model.complete();
  }
  void expect(ModelState& model, float round) const {
    for_each([&](auto part, int chunk, int p, std::size_t size) {
      std::vector<float> read(size);
      model.read(part, chunk, p, 0, read);
      EXPECT_EQ(read, values(part, chunk, p, size, round)) << part << " of chunk " << chunk;
    });
    model.release();
  }

  Config m_config;
  Graph m_graph;
  Program m_program;
  std::optional<SpillFile> m_spill;
  std::optional<Tiers> m_tiers;
};

TEST_P(ModelOnADrive, is_read_by_another_as_it_was_written) {
  ASSERT_EQ(m_program.persistent_bytes[Tier::host] + m_program.persistent_bytes[Tier::device], 0);
  auto one = model(false);
  write(one, 1);
  auto other = model(true);
  expect(other, 1);
  expect(one, 1);
}

// Also moments that are read before any master, as by a rank whose share has no master.
TEST_P(ModelOnADrive, is_seen_anew_after_every_release) {
  auto steps = model(false), looks = model(true);
  for (float const round : {1.0f, 2.0f, 3.0f}) {
    write(steps, round);
    for (auto const& chunk : m_program.chunks) {
      std::vector<float> first(1);
      looks.read("m", chunk.id, 0, 0, first);
      EXPECT_EQ(first, values("m", chunk.id, 0, 1, round)) << "of chunk " << chunk.id;
    }
    looks.release();
  }
  expect(looks, 3);
}

std::string precision_name(testing::TestParamInfo<Precision> const& info) {
  return info.param == Precision::bf16 ? "bf16" : "fp32";
}

INSTANTIATE_TEST_SUITE_P(Of, ModelOnADrive, testing::Values(Precision::bf16, Precision::fp32),
                         precision_name);

// Its layer has more elements than a window, whose end is inside the last matrix.
class LayerOfSeveralWindows : public ModelOnADrive {
 protected:
  LayerOfSeveralWindows() : ModelOnADrive(large()) {
    auto const& chunks = m_program.chunks;
    auto const found =
        std::ranges::find_if(chunks, [](Chunk const& c) { return c.elements > kWindowElements; });
    m_chunk = found->id;
    m_parameter = static_cast<int>(found->parameters.size()) - 2;  // the last one is its bias
    m_to_end =
        kWindowElements - found->parameters[static_cast<std::size_t>(m_parameter)].view.offset;
  }
  static Config large() {
    Config config = tiny_config();
    config.model.layers = 1, config.model.hidden = 320, config.model.heads = 4;
    return config;
  }

  int m_chunk = -1, m_parameter = -1;
  std::int64_t m_to_end = 0;  // elements of the parameter before the end of the first window
};

TEST_P(LayerOfSeveralWindows, is_read_by_another_as_it_was_written) {
  ASSERT_GT(m_to_end, 2);
  auto one = model(false);
  write(one, 1);
  auto other = model(true);
  expect(other, 1);
}

// Pieces of a checkpoint end elsewhere than windows do.
TEST_P(LayerOfSeveralWindows, is_what_a_checkpoint_of_it_had) {
  auto const comm = make_single_rank_comm();
  auto const directory = std::filesystem::path(testing::TempDir()) / "checkpoint_of_windows";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  ASSERT_NE(m_to_end % kCopiedElements, 0);
  auto one = model(false);
  write(one, 1);
  SaveSettings settings;
  save_checkpoint(directory, one, {}, settings, *comm);
  write(one, 2);
  CheckpointReader reader(directory / "step-0");
  restore_model(reader, nullptr, one, *comm);
  expect(one, 1);
  one.release();
  auto other = model(true);
  expect(other, 1);
  std::filesystem::remove_all(directory);
}

TEST_P(LayerOfSeveralWindows, is_read_and_written_across_their_end) {
  auto one = model(false);
  write(one, 1);
  std::vector<float> const piece = {0.5f, -1.0f / 3, 3e-5f, 7, -0.0f};
  std::vector<float> back(3), around(7);
  for (auto const part : kParts) {
    one.write(part, m_chunk, m_parameter, m_to_end - 2, piece);
    one.read(part, m_chunk, m_parameter, m_to_end - 1, back);
    EXPECT_EQ(back, (std::vector<float>{piece[1], piece[2], piece[3]})) << part;
  }
  one.release();
  auto other = model(true);
  for (auto const part : kParts) {
    auto expected = values(part, m_chunk, m_parameter, static_cast<std::size_t>(m_to_end) + 4, 1);
    std::ranges::copy(piece, expected.end() - 6);
    other.read(part, m_chunk, m_parameter, m_to_end - 3, around);
    EXPECT_EQ(around, std::vector<float>(expected.end() - 7, expected.end())) << part;
  }
}

TEST_P(LayerOfSeveralWindows, starts_with_the_values_that_it_has_in_memory) {
  auto on_drive = model(false);
  on_drive.initialise(3);
  TinyState in_memory(m_config);  // of the same seed
  for_each([&](auto part, int chunk, int p, std::size_t size) {
    std::vector<float> here(size), there(size);
    on_drive.read(part, chunk, p, 0, here);
    in_memory.model.read(part, chunk, p, 0, there);
    EXPECT_EQ(here, there) << part << " of chunk " << chunk << ", parameter " << p;
  });
}

INSTANTIATE_TEST_SUITE_P(Of, LayerOfSeveralWindows,
                         testing::Values(Precision::bf16, Precision::fp32), precision_name);

}  // namespace
}  // namespace spillway::test::model_on_a_drive_test
