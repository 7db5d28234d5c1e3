// Ranks that hold their slice of a gradient in a buffer of its own, by one and the same Program:
// the slice leaves the whole gradient, is summed where it is, and comes back to the bits that are
// summed in place.
#include <gtest/gtest.h>

#include <random>

#include "graph/gradient_slice.hpp"
#include "kernels/host/kernels.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"
#include "runtime/engine.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

// A gradient is reduced, in place or by way of a buffer for this rank's slice on `tier`.
struct Reduction : HandMade {
  Reduction(std::int64_t elements, std::optional<Tier> tier) {
    program.ranks = program.arithmetic.ranks = g_comm->size();
    segment("last");
    auto const slice = gradient_slice(elements, 0, g_comm->size()).count;
    gradient = add({elements}, Tier::device);
    program.buffers[gradient].persistent = true;
    received = add({g_comm->size(), slice}, tier.value_or(Tier::device));
    auto own = gradient;
    if (tier) {
      own = add({elements}, *tier);
      Buffer& buffer = program.buffers[own];
      buffer.tensor = gradient;
      buffer.bytes = slice * size_bytes(DType::f32);
      buffer.part = {0, true};
    }
    add_item(ItemKind::all_to_all, Lane::comm, {gradient}, received);
    if (tier) add_item(ItemKind::copy, copy_lane(Tier::device, *tier), {gradient}, own);
    Op op;
    op.kind = OpKind::tree_sum;
    op.inputs = {whole(program.tensors[received])};
    op.outputs = {whole(program.tensors[gradient])};
    op.in_place = {0};
    program.ops.push_back(op);
    add_item(ItemKind::op, tier == Tier::host ? Lane::host : Lane::compute, {received, own}, own);
    program.items.back().op = 0;
    if (tier) add_item(ItemKind::copy, copy_lane(*tier, Tier::device), {own, gradient}, gradient);
    add_item(ItemKind::all_gather, Lane::comm, {gradient}, gradient);
    link(program);
    Program* programs[] = {&program};
    layout(programs);
    derive_waits(program);
  }

  // Its buffer has the same number.
  TensorId add(Shape shape, Tier tier) {
    auto const id = buffer(tier, element_count(shape) * size_bytes(DType::f32));
    program.tensors[id].dtype = DType::f32;
    program.tensors[id].shape = std::move(shape);
    return id;
  }
  // What it works on is what it reads first, and what it writes.
  void add_item(ItemKind kind, Lane lane, std::vector<BufferId> const& reads, BufferId writes) {
    auto& item = program.items[HandMade::item(lane, reads, {writes})];
    item.kind = kind;
    item.operands = {reads.front(), writes};
  }

  TensorId gradient, received;
};

std::vector<float> reduced(std::int64_t elements, std::optional<Tier> tier) {
  Reduction const step(elements, tier);
  if (auto const wrong = verify(step.program)) throw std::logic_error(wrong->why);
  auto tiers = make_tiers(step.program, nullptr);
  NoBatches batches;
  Engine engine({step.program, tiers, host::kernels(), *g_comm, batches, {}});
  auto const bytes = engine.bytes(step.gradient);
  std::span const values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  std::mt19937 random(static_cast<unsigned>(g_comm->rank() + 1));
  std::normal_distribution<float> normal;
  for (float& value : values) value = normal(random);
  engine.run_step(0);
  engine.finish();
  return {values.begin(), values.end()};
}

// Slices that end within the last tile, and ranks that have none.
TEST(SliceBuffers, give_the_bits_of_sums_in_place) {
  for (std::int64_t const elements : {100L, 4096L, 5 * kNormTile + 77}) {
    auto const expected = reduced(elements, {});
    EXPECT_EQ(reduced(elements, Tier::host), expected) << elements;
    EXPECT_EQ(reduced(elements, Tier::device), expected) << elements;
  }
}

TEST(SliceBuffers, are_no_larger_than_a_slice) {
  Reduction step(5 * kNormTile, Tier::host);
  auto& buffer = step.program.buffers.back();
  ASSERT_TRUE(buffer.part.of_slice);
  buffer.part.first = 4;
  auto const wrong = verify(step.program);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_NE(wrong->why.find("of a slice of"), std::string::npos) << wrong->why;
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
