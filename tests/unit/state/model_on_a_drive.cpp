// State in a spill file is looked at through windows: beside them, steps and moves change it.
#include <gtest/gtest.h>

#include <cstring>

#include "device/host/host_device.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/compile/compile.hpp"
#include "run/prepare.hpp"
#include "runtime/tiers.hpp"
#include "state/model_state.hpp"
#include "support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::model_on_a_drive_test {
namespace {

constexpr std::string_view kParts[] = {kMaster, "m", "v"};

// All parameters and moments of a tiny model, in a spill file.
class ModelOnADrive : public testing::TestWithParam<Precision> {
 protected:
  ModelOnADrive() {
    Config config = tiny_config();
    config.precision = GetParam();
    m_graph = training_graph(config, kTinyVocab, tiny_arithmetic(config));
    PlanWords const words{
        .activations = {"keep"}, .parameters = {"nvme"}, .optimizer = {"nvme"}, .update = {"host"}};
    m_program = compile(m_graph, nullptr, make_plan(m_graph, words, BlockPolicy::keep), 1, 1).train;
    m_spill.emplace(testing::TempDir(), m_program.peak_bytes[Tier::nvme], SpillSettings{});
    m_tiers.emplace(host_device(), m_program.peak_bytes, &*m_spill);
  }
  ModelState model(bool is_there) { return {m_program, *m_tiers, is_there}; }

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
      result[i] = round + static_cast<float>(part.front()) + 0.25f * static_cast<float>(p) +
                  static_cast<float>(i) / 1024 + 31 * static_cast<float>(chunk);
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

INSTANTIATE_TEST_SUITE_P(Of, ModelOnADrive, testing::Values(Precision::bf16, Precision::f32),
                         [](auto const& info) {
                           return info.param == Precision::bf16 ? "bf16" : "fp32";
                         });

}  // namespace
}  // namespace spillway::test::model_on_a_drive_test
