#include <gtest/gtest.h>

#include <set>

#include "runtime/work_part.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::test::work_parts_test {
namespace {

WorkPart part_of(OpKind kind, Phase phase) {
  HandMadeRun run;
  run.segment("all");
  run.op(Lane::compute, {}, {run.buffer(Tier::device, 8)});
  run.program.ops[0].kind = kind;
  run.program.ops[0].phase = phase;
  return work_part(run.program, run.program.items[0]);
}

TEST(WorkPart, tells_products_attention_loss_and_updates_apart) {
  using enum OpKind;
  for (auto const kind : {matmul, mlp})
    EXPECT_EQ(part_of(kind, Phase::forward), WorkPart::matmul_forward);
  for (auto const kind : {matmul, mlp_backward})
    EXPECT_EQ(part_of(kind, Phase::backward), WorkPart::matmul_backward);
  EXPECT_EQ(part_of(attention, Phase::forward), WorkPart::attention);
  EXPECT_EQ(part_of(attention_backward, Phase::backward), WorkPart::attention);
  EXPECT_EQ(part_of(lm_head_loss, Phase::forward), WorkPart::loss);
  EXPECT_EQ(part_of(lm_head_loss_backward, Phase::backward), WorkPart::loss);
  EXPECT_EQ(part_of(square_norm, Phase::norm), WorkPart::optimizer);
  EXPECT_EQ(part_of(adamw, Phase::update), WorkPart::optimizer);
  EXPECT_EQ(part_of(layernorm, Phase::forward), WorkPart::other_ops);
  EXPECT_EQ(part_of(accumulate, Phase::backward), WorkPart::other_ops);
}

TEST(WorkPart, of_what_is_no_op_is_other) {
  HandMadeRun run;
  run.segment("all");
  run.copy(Lane::compute, run.buffer(Tier::device, 8), run.buffer(Tier::device, 8));
  EXPECT_EQ(work_part(run.program, run.program.items[0]), WorkPart::other_ops);
}

TEST(WorkPart, has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kWorkParts; ++i) names.insert(name(static_cast<WorkPart>(i)));
  EXPECT_EQ(names.size(), kWorkParts);
}

}  // namespace
}  // namespace spillway::test::work_parts_test
