// What a machine file comes to for the ranks of a run, number by number.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "run/find_target.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::targets_of_files_test {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20, kGib = std::int64_t{1} << 30;

class TargetsOfFiles : public ::testing::Test {
 protected:
  TargetsOfFiles() {
    m_config.batch = {16, 2};
    write("matmul_gflops: {fp32: 100}\nnvme: {read_gbps: 2, write_gbps: 1}\n");
  }
  void write(std::string const& rates) const {
    std::ofstream(m_file) << rates
                          << "cores: {all: 6, compute: 5.6}\nmemory: {host: 40GiB, nvme: 8GiB}\n"
                             "memory_gbps: 20\nranks: 4\n";
  }
  Target target(std::int64_t ranks) const {
    return target_of_file(m_config, kTinyVocab, m_file, ranks);
  }

  CapturedLog m_log;
  Config m_config = tiny_config();
  std::string const m_file = ::testing::TempDir() + "targets_of_files.yaml";
};

TEST_F(TargetsOfFiles, are_of_a_rank_s_share_of_nodes_that_are_full_or_not) {
  m_config.spill.max_write_per_day_bytes = 86'400 * 40;
  auto const half = target(2);
  EXPECT_EQ(half.ranks, 2);
  EXPECT_EQ(half.machine.node_ranks, 2);
  EXPECT_EQ(half.machine.memory_gbps, 20);
  EXPECT_EQ(half.budgets.device_bytes, 16 * kGib);
  EXPECT_EQ(half.budgets.host_bytes, 0);
  EXPECT_EQ(half.budgets.nvme_bytes, 4080 * kMib);
  EXPECT_EQ(half.budgets.nvme_bytes_per_s, 20);
  auto const full = target(8);  // on two nodes
  EXPECT_EQ(full.ranks, 8);
  EXPECT_EQ(full.machine.node_ranks, 4);
  EXPECT_EQ(full.budgets.device_bytes, 8 * kGib);
  EXPECT_EQ(full.budgets.nvme_bytes, 2032 * kMib);
  EXPECT_EQ(full.budgets.nvme_bytes_per_s, 10);
  EXPECT_EQ(m_log.taken(), "");
}

TEST_F(TargetsOfFiles, have_the_threads_that_keep_the_file_s_cores_busy) {
  EXPECT_EQ(target(2).choices.threads, 6);
  EXPECT_EQ(target(2).choices.micro, 2);
  EXPECT_FALSE(target(2).choices.micro_is_free);
  m_config.batch.micro.reset();
  EXPECT_EQ(target(2).choices.micro, 8) << "all of its share, for all of that fits";
  EXPECT_TRUE(target(2).choices.micro_is_free);
  m_config.run.threads = 5;
  m_config.run.host_threads = 3;
  auto const asked = target(2);
  EXPECT_EQ(asked.choices.threads, 5);
  EXPECT_EQ(asked.machine.host_cores, 3);
}

TEST_F(TargetsOfFiles, with_a_smaller_drive_than_was_asked_for_are_said) {
  m_config.memory.nvme_paths = std::vector<std::string>{"/scratch"};
  m_config.memory.nvme_bytes = 4 * kGib;
  EXPECT_EQ(target(2).budgets.nvme_bytes, 4080 * kMib);
  EXPECT_EQ(m_log.taken(),
            "warning: memory.nvme.size = 4 GiB: /scratch has 3.98 GiB for each rank, and the plan "
            "uses no more\n");
}

TEST_F(TargetsOfFiles, are_refused_where_a_rate_is_not_known_that_plans_need) {
  auto const refusal = [&] { return refused_with([&] { target(2); }); };
  write("matmul_gflops: {bf16: 100}\nnvme: {read_gbps: 2, write_gbps: 1}\n");
  EXPECT_NE(refusal().find(m_file + ": matmul_gflops.fp32: not known"), std::string::npos);
  write("matmul_gflops: {fp32: 100}\n");
  EXPECT_NE(refusal().find(m_file + ": nvme.write_gbps: not known"), std::string::npos);
  m_config.memory.nvme_bytes = 0;
  EXPECT_EQ(refusal(), "") << "nothing spills";
}

// Beside a device the threads of a full node are there for fewer ranks.
TEST(MachineOfARank, has_its_share_of_a_node_and_the_threads_that_were_asked_for) {
  Machine const gpus{.host_cores = 3,
                     .device_bytes = kGib,
                     .node_ranks = 8,
                     .kind_giga_per_s = {{"host adamw", 5}, {"adamw", 7}}};
  struct Case {
    std::int64_t ranks;
    std::optional<std::int64_t> asked;
    std::int64_t node_ranks, threads;
    double rate;
  };
  for (auto const& [ranks, asked, node_ranks, threads, rate] :
       {Case{2, {}, 2, 12, 20}, Case{2, 3, 2, 3, 5}, Case{8, {}, 8, 3, 5}, Case{16, {}, 8, 3, 5}}) {
    auto const machine = machine_of_a_rank(gpus, ranks, asked);
    EXPECT_EQ(machine.node_ranks, node_ranks) << ranks;
    EXPECT_EQ(machine.host_threads(), threads) << ranks;
    EXPECT_DOUBLE_EQ(machine.kind_giga_per_s.at("host adamw"), rate) << ranks;
    EXPECT_EQ(machine.kind_giga_per_s.at("adamw"), 7) << ranks;
  }
  Machine const cores{.host_cores = 4, .node_ranks = 8, .kind_giga_per_s = {{"host adamw", 5}}};
  auto const machine = machine_of_a_rank(cores, 2, {});
  EXPECT_EQ(machine.node_ranks, 2);
  EXPECT_EQ(machine.host_cores, 1) << "all others compute";
  EXPECT_DOUBLE_EQ(machine.kind_giga_per_s.at("host adamw"), 1.25);
}

}  // namespace
}  // namespace spillway::test::targets_of_files_test
