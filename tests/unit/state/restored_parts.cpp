// A rank reads what it keeps of a checkpoint, however other ranks cut it and whatever types it had.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "base/bf16.hpp"
#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_layout.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "plan/compile/compile.hpp"
#include "plan/search/solve.hpp"
#include "runtime/tiers.hpp"
#include "state/checkpoints.hpp"
#include "state/restore.hpp"
#include "tests/support/bytes_read.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::restored_parts_test {
namespace {

namespace fs = std::filesystem;

Config config_of(Precision precision, Precision moments, std::int64_t hidden = 32) {
  auto config = test::tiny_config();
  config.precision = precision;
  config.optim.moments = moments;
  config.model.hidden = hidden;
  return config;
}

// The state that one rank of a run has.
struct RankState {
  RankState(Config const& config, int rank, int ranks, std::string const& shard)
      : hidden(config.model.hidden),
        train(test::tiny_training_graph(config, ranks)),
        program(compile(train, nullptr,
                        make_plan(train, test::PlanWords{.activations = {"keep"}, .shard = {shard}},
                                  BlockPolicy::keep),
                        1, ranks)
                    .train),
        tiers(host_device(), program.peak_bytes, nullptr),
        model(program, tiers, rank) {}

  std::int64_t hidden;
  Graph train;
  Program program;
  Tiers tiers;
  ModelState model;
};

class RestoredParts : public test::InDirectory {
 protected:
  void save(ModelState& model) const {
    SaveSettings settings;
    save_checkpoint(m_dir, model, {}, settings, *m_comm);
  }
  // Saves new masters, and moments that are other values.
  void save(Config const& config) const {
    RankState all(config, 0, 1, "none");
    all.model.initialise(5);
    std::vector<float> values;
    for (auto const& chunk : all.model.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p)
        for (auto const* moment : {"m", "v"}) {
          values.resize(elements_of(chunk, p));
          all.model.read(kMaster, chunk.id, p, 0, values);
          for (auto& value : values) value = to_float(to_bf16(2 * value));
          all.model.write(moment, chunk.id, p, 0, values);
        }
    save(all.model);
  }
  std::int64_t restore(ModelState& model) const {
    CheckpointReader reader(m_dir / "step-0");
    auto const before = test::bytes_read();
    restore_model(reader, nullptr, model, *m_comm);
    return test::bytes_read() - before;
  }
  static std::size_t elements_of(Chunk const& chunk, int p) {
    auto const& shape = chunk.parameters[static_cast<std::size_t>(p)].view.shape;
    return static_cast<std::size_t>(element_count(shape));
  }

  // Returns the chunk and the index of the parameter of which the rank has the most.
  static std::pair<int, int> most_owned(ModelState const& model) {
    std::pair<int, int> found;
    std::int64_t most = 0;
    for (auto const& chunk : model.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const own = model.owned(chunk.id, p);
        if (own.last - own.first <= most) continue;
        most = own.last - own.first;
        found = {chunk.id, p};
      }
    return found;
  }

  // Expects that the state has what `save` saved, where it has anything.
  static void expect_saved(RankState& state) {
    RankState all(config_of(Precision::fp32, Precision::fp32, state.hidden), 0, 1, "none");
    all.model.initialise(5);
    for (auto const& chunk : state.model.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p)
        for (auto const part : {kMaster, std::string_view("m"), std::string_view("v")}) {
          auto const own = state.model.owned(chunk.id, p);
          std::vector<float> expected(static_cast<std::size_t>(own.last - own.first)),
              there(expected);
          all.model.read(kMaster, chunk.id, p, own.first, expected);
          if (part != kMaster)
            for (auto& value : expected) value = to_float(to_bf16(2 * value));
          state.model.read(part, chunk.id, p, own.first, there);
          EXPECT_TRUE(std::ranges::equal(there, expected, {}, bits_of, bits_of))
              << chunk.name << " " << p << " " << part;
        }
  }
  static std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

  std::unique_ptr<Comm> const m_comm = make_single_rank_comm();
};

// Ranks that share out chunks read about as much as a checkpoint has for each of them.
TEST_F(RestoredParts, are_read_without_the_rest) {
  constexpr int ranks = 4;
  auto const config = config_of(Precision::bf16, Precision::fp32, 512);
  save(config);
  RankState one(config, 0, 1, "none");
  auto const all_bytes = restore(one.model);
  expect_saved(one);
  EXPECT_GE(all_bytes, checkpoint_bytes(one.model));
  for (int rank = 0; rank < ranks; ++rank) {
    RankState all(config, rank, ranks, "all"), gradients(config, rank, ranks, "gradients");
    // Whole blocks are read, so a little more than a quarter.
    EXPECT_LT(restore(all.model), 0.4 * all_bytes) << rank;
    expect_saved(all);
    // A sixth of the bytes are bf16 parameters, which every rank keeps.
    EXPECT_LT(restore(gradients.model), 0.6 * all_bytes) << rank;
    expect_saved(gradients);
  }
}

// Damage is found by the ranks that keep what is damaged or what shares its block.
TEST_F(RestoredParts, that_are_damaged_are_refused_by_who_keeps_them) {
  auto const config = config_of(Precision::bf16, Precision::fp32, 512);
  auto const other = config_of(Precision::fp32, Precision::fp32, 512);
  constexpr int ranks = 4, keeper = 2;
  save(config);
  RankState state(config, keeper, ranks, "all"), gradients(config, keeper, ranks, "gradients"),
      converted(other, keeper, ranks, "all"), first(config, 0, ranks, "all");
  auto const [chunk, largest] = most_owned(state.model);
  auto const& name = state.model.chunks()[chunk].parameters[static_cast<std::size_t>(largest)].name;
  auto const own = state.model.owned(chunk, largest);
  ASSERT_GT(own.first, 0);
  ASSERT_GT(own.last - own.first, kBlockElements);
  auto const shard = m_dir / "step-0/shard-0.h5";
  auto const flip = [&](std::int64_t at) {
    std::fstream file(shard, std::ios::binary | std::ios::in | std::ios::out);
    auto const byte = static_cast<char>(file.seekg(at).get());
    file.seekp(at).put(static_cast<char>(byte ^ 16));
  };
  for (auto const* group : {"model", "optimizer/remainder", "optimizer/m"}) {
    auto const path = dataset_path(group, name);
    auto const bytes = std::string_view(group) == "optimizer/m" ? 4 : 2;
    // The block in which the rank's part begins, and one within the part.
    for (auto const element : {own.first, own.first + kBlockElements}) {
      auto const at = H5File::open(shard).offset_bytes(path) + bytes * element;
      flip(at);
      for (auto* one : {&state, &gradients, &converted})
        EXPECT_EQ(error_of([&] { restore(one->model); }).what(),
                  fmt::format("{}: {}: not the values that were written", shard.string(), path));
      EXPECT_EQ(error_of([&] { restore(first.model); }).status(), Status::done) << path;
      flip(at);
    }
  }
  restore(state.model);
  expect_saved(state);
}

TEST_F(RestoredParts, of_other_types_are_converted) {
  auto const types = {std::pair(Precision::fp32, Precision::fp32),
                      std::pair(Precision::bf16, Precision::fp32),
                      std::pair(Precision::bf16, Precision::bf16)};
  for (auto const& [precision, moments] : types) {
    fs::remove_all(m_dir / "step-0");
    save(config_of(precision, moments));
    for (auto const& [other, other_moments] : types)
      for (auto const* shard : {"none", "gradients", "all"}) {
        RankState state(config_of(other, other_moments), 1, 3, shard);
        restore(state.model);
        SCOPED_TRACE(fmt::format("{} {} to {} {}, {}", word(precision), word(moments), word(other),
                                 word(other_moments), shard));
        expect_saved(state);
      }
  }
}

// The copy that every rank keeps beside its own slice is the parameter, not the master.
TEST_F(RestoredParts, that_all_ranks_keep_are_rounded_as_an_update_rounds_them) {
  for (auto const precision : {Precision::fp32, Precision::bf16}) {
    fs::remove_all(m_dir / "step-0");
    save(config_of(precision, Precision::fp32));
    auto const config = config_of(Precision::bf16, Precision::fp32);
    RankState all(config, 0, 1, "none"), state(config, 1, 3, "gradients");
    all.model.initialise(5);
    restore(state.model);
    for (auto const& chunk : state.model.chunks())
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const elements = static_cast<std::int64_t>(elements_of(chunk, p));
        auto const whole = state.model.stored(kWholeParameter, chunk.id, p, 0, elements, false);
        auto const expected = all.model.stored(kParameter, chunk.id, p, 0, elements, false);
        EXPECT_TRUE(std::ranges::equal(whole, expected)) << chunk.name << " " << p;
      }
  }
}

}  // namespace
}  // namespace spillway::restored_parts_test
