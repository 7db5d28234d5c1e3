// What becomes of activations between their last forward and their first backward use, to the byte.
#include "plan/schedule/fates.hpp"

#include <gtest/gtest.h>

namespace spillway::test::fates_test {
namespace {

// Three layers with a backward group each. A forward op makes tensors of its layer's number, and
// backward ops read them.
class FatesOfLayers : public ::testing::Test {
 protected:
  FatesOfLayers() {
    for (int layer = 0; layer < 3; ++layer) m_graph.blocks.emplace_back().layer = true;
    m_plan.blocks.resize(3);
  }
  TensorId tensor(std::int64_t bytes, Role role = Role::activation) {
    auto const id = static_cast<TensorId>(m_graph.tensors.size());
    auto& added = m_graph.tensors.emplace_back();
    added.id = id;
    added.role = role;
    added.shape = {bytes / 4};  // of f32
    return id;
  }
  int op(int block, Phase phase, std::vector<TensorId> const& in, std::vector<TensorId> const& out,
         double flops = 0) {
    Op op;
    op.id = static_cast<int>(m_graph.ops.size());
    op.block = block;
    op.phase = phase;
    op.flops = flops;
    for (auto const id : in) op.inputs.push_back(whole(m_graph.tensors[id]));
    for (auto const id : out) op.outputs.push_back(whole(m_graph.tensors[id]));
    m_graph.ops.push_back(op);
    return op.id;
  }
  int forward(int block, std::vector<TensorId> const& in, std::vector<TensorId> const& out,
              double flops = 0) {
    auto const id = op(block, Phase::forward, in, out, flops);
    auto& of = m_graph.blocks[block];
    if (of.last_op == 0) of.first_op = id;
    of.last_op = id + 1;
    return id;
  }
  void backward(int block, std::vector<TensorId> const& in) { op(block, Phase::backward, in, {}); }
  Fates decide() const { return decide_fates(m_graph, m_plan); }

  Graph m_graph;
  Plan m_plan;
};

constexpr std::int64_t kPage = 4096;

TEST_F(FatesOfLayers, spill_what_is_large_enough_in_whole_pages) {
  struct Case {
    std::int64_t bytes;
    double fraction;
    std::int64_t away_bytes;
  };
  Case const all[] = {{4 * kPage, 1, 4 * kPage},
                      {4 * kPage - 4, 1, 0},
                      {5 * kPage, 0.5, 2 * kPage},
                      {5 * kPage, 0.2, kPage},
                      {5 * kPage, 0.1875, 0},
                      {5 * kPage + 4, 1, 5 * kPage + 4},
                      {5 * kPage + 4, 0.999, 4 * kPage + 4}};
  for (auto const policy : {BlockPolicy::nvme, BlockPolicy::host}) {
    for (auto const& [bytes, fraction, away_bytes] : all) {
      SCOPED_TRACE(std::to_string(bytes) + " " + std::to_string(fraction));
      m_graph.tensors.clear();
      m_graph.ops.clear();
      m_graph.blocks[0].last_op = 0;
      auto const saved = tensor(bytes), unread = tensor(bytes);
      forward(0, {}, {saved, unread});
      backward(0, {saved});
      m_plan.blocks[0] = {policy, fraction};
      auto const fates = decide();
      auto const away = policy == BlockPolicy::nvme ? Fate::nvme : Fate::host;
      EXPECT_EQ(fates.of(saved), away_bytes > 0 ? away : Fate::keep);
      EXPECT_EQ(fates.away_bytes[saved], away_bytes);
      EXPECT_EQ(fates.leaves(saved), away_bytes > 0);
      EXPECT_EQ(fates.of(unread), Fate::keep);
      EXPECT_EQ(fates.away_bytes[unread], 0);
      EXPECT_FALSE(fates.saved(unread));
      auto const bytes_of = saved_bytes(m_graph, m_plan)[0];
      EXPECT_EQ(bytes_of[Fate::keep], bytes - away_bytes);
      EXPECT_EQ(bytes_of[away], away_bytes);
    }
  }
}

// What a later block reads as well stays, and so does what passes blocks by.
TEST_F(FatesOfLayers, keep_what_several_blocks_read) {
  auto const shared = tensor(8 * kPage), edge = tensor(16 * kPage, Role::edge);
  forward(0, {}, {shared});
  forward(0, {}, {edge});
  backward(1, {shared});
  backward(0, {shared, edge});
  for (auto& block : m_plan.blocks) block.policy = BlockPolicy::recompute;
  auto fates = decide();
  EXPECT_EQ(fates.of(shared), Fate::keep);
  EXPECT_EQ(fates.readers[shared], (std::vector{0, 1}));
  EXPECT_EQ(fates.of(edge), Fate::keep) << "it is never made again";
  EXPECT_TRUE(fates.repeats[0].empty());
  for (auto& block : m_plan.blocks) block.policy = BlockPolicy::nvme;
  fates = decide();
  EXPECT_EQ(fates.of(shared), Fate::keep);
  EXPECT_EQ(fates.of(edge), Fate::nvme) << "but it may leave";
  auto const bytes = saved_bytes(m_graph, m_plan);
  EXPECT_EQ(bytes[0][Fate::keep], 0);
  EXPECT_EQ(bytes[0][Fate::nvme], 16 * kPage);
  EXPECT_EQ(bytes[1][Fate::keep], 8 * kPage) << "counted for the last of its readers";
}

// `light` makes again what takes no product. What is needed for that is read, and may leave.
TEST_F(FatesOfLayers, make_again_what_their_policy_may) {
  auto const first = tensor(8 * kPage), second = tensor(12 * kPage), third = tensor(20 * kPage);
  auto const product = forward(1, {}, {first}, 100);
  auto const cheap = forward(1, {first}, {second}), last = forward(1, {second}, {third});
  backward(1, {third});
  m_plan.blocks[1].policy = BlockPolicy::light_nvme;
  auto const light = decide();
  EXPECT_EQ(light.repeats[1], (std::vector{cheap, last}));
  EXPECT_EQ(light.of(first), Fate::nvme);
  EXPECT_EQ(light.of(second), Fate::recompute);
  EXPECT_EQ(light.of(third), Fate::recompute);
  EXPECT_EQ(light.readers[first], std::vector{1});
  auto const bytes = saved_bytes(m_graph, m_plan)[1];
  EXPECT_EQ(bytes[Fate::nvme], 8 * kPage);
  EXPECT_EQ(bytes[Fate::recompute], 32 * kPage);
  EXPECT_EQ(bytes[Fate::keep], 0);
  m_plan.blocks[1].policy = BlockPolicy::recompute;
  EXPECT_EQ(decide().repeats[1], (std::vector{product, cheap, last}));
  m_plan.blocks[1].policy = BlockPolicy::nvme;
  EXPECT_TRUE(decide().repeats[1].empty());
  EXPECT_EQ(decide().of(third), Fate::nvme);
  EXPECT_EQ(decide().of(first), Fate::keep) << "nobody reads it again";
  m_plan.blocks[1].policy = BlockPolicy::light_nvme;
  m_graph.ops[last].elided = true;
  EXPECT_TRUE(decide().repeats[1].empty()) << "its backward op does its work";
}

// What a layer begins with is all that `recompute` keeps, and that may go away.
TEST_F(FatesOfLayers, make_all_again_of_an_input_that_is_away) {
  auto const input = tensor(8 * kPage, Role::edge), made = tensor(12 * kPage);
  forward(0, {}, {input});
  auto const product = forward(1, {input}, {made}, 100);
  backward(1, {made});
  m_plan.blocks[1].policy = BlockPolicy::recompute_host;
  auto const fates = decide();
  EXPECT_EQ(fates.repeats[1], std::vector{product});
  EXPECT_EQ(fates.of(made), Fate::recompute);
  EXPECT_EQ(fates.of(input), Fate::host);
  EXPECT_EQ(fates.away_bytes[input], 8 * kPage);
}

}  // namespace
}  // namespace spillway::test::fates_test
