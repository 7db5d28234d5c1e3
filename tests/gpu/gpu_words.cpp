// What the program says of GPUs where there are some.
#include <fmt/format.h>

#include "tests/gpu/gpu.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::gpu_words_test {
namespace {

TEST(ReadGpus, knows_the_names_and_targets_of_devices_and_why_there_is_none) {
  auto const two = read_gpus(
      "devices             cpu (Kokkos OpenMP)\n"
      "  cuda:0            NVIDIA A100-SXM4-80GB, sm_80, 78.7 GiB of 79.2 GiB free\n"
      "  cuda:1            NVIDIA A100-SXM4-80GB, sm_80, 12 GiB of 79.2 GiB free\n");
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(two.target, "sm_80");
  EXPECT_EQ(two.why_none, "");
  auto const none = read_gpus("  no GPU            there is no driver\n");
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.why_none, "there is no driver");
  auto const wrapped =
      "  no GPU            there is no driver:\n                    no such file\n";
  EXPECT_EQ(read_gpus(wrapped).why_none, "there is no driver: no such file");
  EXPECT_NE(read_gpus("  cuda:0            cannot be used: it is lost\n").why_none, "");
}

class GpuWords : public testing::Test {
 protected:
  Outcome refused(int ranks, std::string const& device) const {
    return run_command(fmt::format("{} train {}/in.yaml run.device={} run.dir={}/refused",
                                   spillway_command(ranks), m_experiment.directory().string(),
                                   device, m_experiment.directory().string()));
  }

  Experiment const m_experiment{
      "gpu_words",
      0,
      {"model.layers=1", "model.hidden=32", "data.sequence=16", "batch.sequences=1",
       "batch.micro=1", "run.steps=1", "run.eval.every=0", "run.checkpoint.every=0"}};
};

TEST_F(GpuWords, a_number_that_no_gpu_has_ends_with_2_and_the_numbers_that_there_are) {
  auto const count = seen_gpus().count;
  auto const outcome = refused(0, fmt::format("cuda:{}", count));
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  auto const said = fmt::format("run.device: cuda:{0}: rank 0 sees {0} GPU{1}, whose numbers",
                                count, count == 1 ? "" : "s");
  EXPECT_NE(outcome.output.find(said), std::string::npos) << outcome.output;
}

TEST_F(GpuWords, more_ranks_than_gpus_are_told_how_to_share_one) {
  if (seen_gpus().count > 1) GTEST_SKIP() << "there is a GPU for each rank";
  auto const outcome = refused(2, "cuda");
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("ranks 0 and 1 have the same GPU"), std::string::npos)
      << outcome.output;
}

TEST_F(GpuWords, a_run_that_asks_for_nothing_computes_on_the_gpu) {
  auto const run = m_experiment.run("auto", on_gpu(1) + Keys{"run.device=auto"});
  EXPECT_GT(run.summary.value("device_outside_bytes", std::int64_t{0}), 0);
  EXPECT_NE(run.output.find("device memory"), std::string::npos) << run.output;
  auto const said = fmt::format("spillway: info: computes on 1 GPU, {} ({}), with 1 rank\n",
                                seen_gpus().name, seen_gpus().target);
  EXPECT_NE(run.output.find(said), std::string::npos) << run.output;
}

TEST_F(GpuWords, the_cores_compute_beside_a_gpu_if_they_are_asked_for) {
  auto const run = m_experiment.run("cores", on_cores());
  EXPECT_FALSE(run.summary.contains("device_outside_bytes"));
  EXPECT_NE(run.output.find("spillway: info: computes on the cores with 1 rank"), std::string::npos)
      << run.output;
}

}  // namespace
}  // namespace spillway::test::gpu_words_test
