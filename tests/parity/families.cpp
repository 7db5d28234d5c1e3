// Models of every family, with the objective that is theirs and some of them packed: how a run is
// planned, evaluated or interrupted changes no bit, and two ranks train as one does.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/h5/checkpoint_dir.hpp"
#include "tests/parity/plan_matrix.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::families_test {
namespace {

class Families : public testing::TestWithParam<FamilyCase> {
 protected:
  Experiment experiment(std::string const& name, int ranks, Keys const& keys) const {
    auto const all = "families_" + GetParam().name + name;
    return Experiment(all, ranks, GetParam().keys + keys + base(all));
  }

 private:
  // A model that is quantized begins with weights of another run.
  static Keys base(std::string const& name) {
    auto keys = GetParam().keys;
    std::erase_if(keys, [](std::string const& key) {
      return key.starts_with("model.quantize") || key.starts_with("model.lora") ||
             key.starts_with("model.freeze");
    });
    if (GetParam().config.model.quantize == Quantization::none) return {};
    auto const run = Experiment(name + "_base", 0, keys + Keys{"run.steps=1"}).run("run");
    return {"run.init=" + find_latest(run.dir)->string()};
  }
};

TEST_P(Families, give_equal_bits_under_every_plan_and_after_a_restart) {
  auto const run = expect_plans_agree(experiment("", 0, {"optim.clip=0.25"}));
  EXPECT_TRUE(run.rows.back().contains("valid_loss_hex"));
}

TEST_P(Families, are_evaluated_by_the_command_as_in_training) {
  auto const begun = experiment("_eval", 0, {"precision=fp32", "run.eval.batches=1000"});
  auto const dir = begun.directory().string();
  write_token_file(dir + "/more.h5", 800, kDocumentTokens);
  auto const run = begun.run("run", {fmt::format("data.valid=[{0}/valid.h5, {0}/more.h5]", dir)});
  auto const outcome = run_command(
      fmt::format("{} eval {}/config.yaml --checkpoint {} --json 2>/dev/null", spillway_command(0),
                  run.dir.string(), find_latest(run.dir)->string()));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const all = nlohmann::json::parse(outcome.output)["checkpoints"][0];
  auto const& row = run.rows.back();
  EXPECT_NEAR(all.at("loss").get<double>(), row.at("valid_loss").get<double>(), 1e-5);
  EXPECT_EQ(all.at("targets"), row.at("valid_targets"));
}

TEST_P(Families, share_a_batch_between_two_ranks_without_changing_the_training) {
  Keys const keys = {"precision=fp32", "batch.sequences=6", "batch.micro=1", "run.steps=3"};
  auto const one = experiment("_1", 0, keys).run("run");
  auto const two = experiment("_2", 2, keys).run("run");
  expect_near(one, two, "loss", 1e-5);
  expect_near(one, two, "grad_norm", 1e-4);
  expect_near(one, two, "tokens", 0);
  expect_measured_as_planned(two);
}

INSTANTIATE_TEST_SUITE_P(, Families, testing::ValuesIn(other_families()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test::families_test
