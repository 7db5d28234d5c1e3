// The same claims where sizes divide nothing, and for each switch of the model and of storage.
#include <ostream>

#include "tests/parity/plan_matrix.hpp"

namespace spillway::test::shapes_test {
namespace {

struct Shape {
  std::string name;
  Keys keys;
};

class Shapes : public testing::TestWithParam<Shape> {};

TEST_P(Shapes, give_equal_bits_under_every_plan_and_after_a_restart) {
  auto const& shape = GetParam();
  expect_plans_agree(Experiment("shapes_" + shape.name, 0, shape.keys));
}

Shape const shapes[] = {
    {"odd", {"model.hidden=72", "model.heads=3", "model.vocab=257", "data.sequence=50"}},
    {"odd_fp32",
     {"precision=fp32", "model.hidden=72", "model.heads=3", "model.vocab=257", "data.sequence=51",
      "batch.micro=3"}},
    {"dropout", {"model.dropout=0.1", "batch.micro=2"}},
    {"untied", {"model.tied=false", "model.layers=4"}},
    {"without_biases", {"model.bias=false", "model.ffn=100"}},
    {"bf16_moments", {"optim.moments=bf16"}},
    {"adamw_8bit",
     {"optim.name=adamw_8bit", "model.hidden=72", "model.heads=3", "model.vocab=257"}},
    {"lion_with_bf16_moments", {"optim.name=lion", "optim.moments=bf16"}},
    {"sgd_with_momentum", {"optim.name=sgd", "optim.momentum=0.9"}},
    {"sgd_fp32", {"optim.name=sgd", "precision=fp32"}},
    {"adafactor", {"optim.name=adafactor", "model.hidden=72", "model.heads=3", "model.vocab=257"}},
    {"muon",
     {"optim.name=muon", "optim.adamw_lr=0.001", "model.hidden=72", "model.heads=3",
      "model.vocab=257"}},
    {"muon_fp32", {"optim.name=muon", "precision=fp32", "model.family=llama", "batch.micro=2"}},
    {"bf16_gradients", {"optim.gradients=bf16", "batch.micro=2"}},
    {"mlp_by_tiles",
     {"batch.micro=2", "batch.mlp_chunk=50", "model.ffn=100", "run.threads=2",
      "model.dropout=0.1"}},
    {"gated_mlp_by_tiles",
     {"model.family=llama", "batch.micro=2", "batch.mlp_chunk=50", "model.ffn=100",
      "optim.gradients=bf16"}},
    {"two_threads", {"run.threads=2", "model.dropout=0.1"}},
};
// How googletest names a parameter of a failed test.
void PrintTo(Shape const& shape, std::ostream* out) {
  *out << shape.name;
}
INSTANTIATE_TEST_SUITE_P(Of, Shapes, testing::ValuesIn(shapes),
                         [](auto const& info) { return info.param.name; });

// One block: what is saved at the end of the forward pass is wanted at once.
TEST(OneBlock, gives_equal_bits_kept_recomputed_and_asked_to_spill) {
  Experiment const experiment("shapes_one_block", 0, {"model.layers=1", "batch.micro=2"});
  auto const keep = experiment.run("keep", {"plan.activations=keep"});
  for (std::string const fate : {"recompute", "nvme"}) {
    auto const run =
        experiment.run(fate, {"plan.activations=" + fate, "debug.poison=true", "plan.update=host"});
    expect_equal_steps(keep, run);
    expect_equal_state(keep, run);
    expect_measured_as_planned(run);
  }
}

}  // namespace
}  // namespace spillway::test::shapes_test
