// Ranks plan with one Machine, whatever each of them finds where it is.
#include "run/measured_machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "base/checksum.hpp"
#include "comm/gathered.hpp"
#include "comm/mpi_scope.hpp"
#include "comm/on_all_ranks.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/scope.hpp"
#include "profile/network_probe.hpp"
#include "profile/shared_profile.hpp"
#include "run/profile_key.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;
RunCores one_core_a_rank() {
  RunCores cores;
  cores.ranks = g_comm->size();
  cores.node_ranks = g_comm->local_size();
  return cores;
}

constexpr double kSlow_s = 2000, kFast_s = 1000;  // nobody measures that

// A cache of each rank's own, as on nodes that share no directory.
class MeasuredMachine : public ::testing::Test {
 protected:
  MeasuredMachine() { std::filesystem::remove_all(m_directory); }
  ~MeasuredMachine() override { std::filesystem::remove_all(m_directory); }

  Machine measured() const {
    return measured_machine(m_config, kTinyVocab, m_choices, m_cores, std::int64_t{1} << 30,
                            m_compute, *g_comm, m_cache);
  }
  // In place of what was measured: even ops are slow on rank 0, odd ones on the others.
  void seed() const {
    measured();
    auto machine = m_cache.find(m_key).machine;
    ASSERT_FALSE(machine.op_s.empty());
    for (int i = 0; auto& [key, s] : machine.op_s)
      s = (i++ % 2 == 0) == (g_comm->rank() == 0) ? kSlow_s : kFast_s;
    machine.memory_gbps = 10 + g_comm->rank();
    machine.matmul_gflops_f32 = 20 - g_comm->rank();
    machine.h2d_gbps = machine.d2h_gbps = 5;
    ASSERT_EQ(m_cache.store(m_key, machine), "");
  }
  static void expect_equal_on_all_ranks(Machine const& machine) {
    auto const text = to_yaml(machine);
    auto const sums = gathered(*g_comm, checksum(std::as_bytes(std::span(text))));
    for (auto const sum : sums) EXPECT_EQ(sum, sums[0]);
  }

  Config m_config = tiny_config();
  RunCores m_cores = one_core_a_rank();
  Choices m_choices{1, 2};
  Compute m_compute{host_device(), host::kernels()};
  About m_key = profile_key(m_config, m_choices, 1, g_comm->local_size(), m_compute);
  std::filesystem::path m_directory =
      std::filesystem::path(::testing::TempDir()) / ("profiles-" + std::to_string(g_comm->rank()));
  ProfileCache m_cache{m_directory};
};

TEST_F(MeasuredMachine, is_the_same_on_all_ranks_and_the_slower_of_each_number) {
  seed();
  auto const machine = measured();
  expect_equal_on_all_ranks(machine);
  EXPECT_EQ(machine.memory_gbps, 10);
  EXPECT_EQ(machine.matmul_gflops_f32, 20 - (g_comm->size() - 1));
  EXPECT_EQ(machine.h2d_gbps, 5);
  EXPECT_EQ(machine.cores, 1);
  EXPECT_EQ(machine.compute_cores, 1);
  EXPECT_EQ(machine.target, "host");
  EXPECT_EQ(machine.device_bytes, 0);
  EXPECT_GT(machine.node_gbps, 0);
  EXPECT_EQ(machine.network_gbps, 0) << "there is one node";
  ASSERT_FALSE(machine.op_s.empty());
  for (auto const& [key, s] : machine.op_s) EXPECT_EQ(s, kSlow_s) << key;
}

TEST_F(MeasuredMachine, is_of_the_node_with_the_most_ranks) {
  seed();
  m_cores.node_ranks = 10 - g_comm->rank();
  EXPECT_EQ(measured().node_ranks, 10);
}

// A machine file of this run may be used for another one, which has several micro-batches a step.
TEST_F(MeasuredMachine, knows_sums_of_gradients_though_a_step_has_one_micro_batch) {
  m_choices.micro = 1;
  m_config.batch.sequences = g_comm->size();
  EXPECT_TRUE(measured().kind_giga_per_s.contains("accumulate"));
}

TEST_F(MeasuredMachine, what_one_rank_does_not_know_all_measure) {
  seed();
  auto machine = m_cache.find(m_key).machine;
  auto const first = machine.op_s.begin()->first;
  if (g_comm->rank() == 0) {
    machine.op_s.erase(first);
    std::filesystem::remove_all(m_directory);
    m_cache.store(m_key, machine);
  }
  expect_equal_on_all_ranks(measured());
  auto const kept = m_cache.find(m_key).machine.op_s;
  for (auto const& [key, s] : kept)
    EXPECT_EQ(s < 1, key == first) << key << ": " << s << ": the others are still as they were";
  EXPECT_TRUE(kept.contains(first));
}

TEST_F(MeasuredMachine, ranks_that_share_a_file_keep_the_slowest_of_them_all) {
  auto const directory = std::filesystem::path(::testing::TempDir()) / "profiles-of-all";
  ProfileCache const shared(directory);
  auto const all = [&] {
    return measured_machine(m_config, kTinyVocab, m_choices, m_cores, std::int64_t{1} << 30,
                            m_compute, *g_comm, shared);
  };
  auto const machine = all();
  g_comm->agree(0);  // it is written
  auto const kept = shared.find(m_key).machine;
  EXPECT_GT(kept.memory_gbps, 0);
  EXPECT_EQ(kept.memory_gbps, machine.memory_gbps);
  EXPECT_EQ(kept.matmul_gflops_f32, machine.matmul_gflops_f32);
  EXPECT_EQ(to_yaml(all()), to_yaml(machine)) << "nothing is measured again";
  g_comm->agree(0);
  if (g_comm->rank() == 0) std::filesystem::remove_all(directory);  // two at it would trip
}

TEST_F(MeasuredMachine, of_ranks_that_share_no_file_each_keeps_its_own) {
  SharedProfile const profile(m_cache, m_key, *g_comm);
  std::vector<Machine> all(static_cast<std::size_t>(g_comm->size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    all[rank].memory_gbps = 10 - static_cast<double>(rank);
  profile.store(all);
  EXPECT_EQ(m_cache.find(m_key).machine.memory_gbps, 10 - g_comm->rank());
}

// Rates belong together: what one rank lacks, all measure. Ops are known one by one.
TEST_F(MeasuredMachine, rates_of_which_one_rank_lacks_any_are_unknown_to_all) {
  Rates const rates = {&Machine::memory_gbps, &Machine::matmul_gflops_f32};
  auto const me = g_comm->rank();
  Machine mine{.memory_gbps = 10.0 + me, .op_s = {{"both", 3.0 + me}}};
  if (me == 0) mine.matmul_gflops_f32 = 5;
  mine.op_s[me == 0 ? "first" : "second"] = 7;
  ASSERT_EQ(m_cache.store(m_key, mine), "");
  SharedProfile const profile(m_cache, m_key, *g_comm);
  auto const found = [&] {
    return profile.find(rates, {{"both", 0}, {"first", 0}, {"second", 0}, {"none", 0}}, *g_comm);
  };
  auto const before = found();
  EXPECT_EQ(before.memory_gbps, 0);
  EXPECT_EQ(before.matmul_gflops_f32, 0);
  EXPECT_EQ(before.op_s, (Numbers{{"both", 4}}));
  mine.matmul_gflops_f32 = 5.0 + me;
  ASSERT_EQ(m_cache.store(m_key, mine), "");
  auto const after = found();
  EXPECT_EQ(after.memory_gbps, 10);
  EXPECT_EQ(after.matmul_gflops_f32, 5);
  EXPECT_EQ(after.op_s, (Numbers{{"both", 4}}));
}

TEST_F(MeasuredMachine, of_a_network_is_kept_under_its_ranks_and_nodes) {
  auto const name = network_name(*g_comm);
  EXPECT_TRUE(name.starts_with("2 ranks on 1 nodes, ")) << name;
}

// A machine that is known, on nodes that are not.
TEST_F(MeasuredMachine, is_asked_for_its_network_where_only_that_is_new) {
  seed();
  auto const network = network_key(m_key, network_name(*g_comm));
  auto machine = m_cache.find(network).machine;
  EXPECT_GT(machine.node_gbps, 0);
  machine.node_gbps = 1e6;  // nobody measures that
  ASSERT_EQ(m_cache.store(network, machine), "");
  EXPECT_EQ(measured().node_gbps, 1e6) << "the network is known, and the machine";
  std::filesystem::remove(m_cache.file(network));
  auto const again = measured();
  expect_equal_on_all_ranks(again);
  EXPECT_GT(again.node_gbps, 0);
  EXPECT_LT(again.node_gbps, 1e6);
  EXPECT_EQ(again.h2d_gbps, 5) << "the machine is as it was";
  EXPECT_GT(m_cache.find(network).machine.node_gbps, 0);
  std::filesystem::remove(m_cache.file(m_key));
  machine.node_gbps = 1e6;
  ASSERT_EQ(m_cache.store(network, machine), "");
  auto const other = measured();
  EXPECT_EQ(other.node_gbps, 1e6) << "the network is as it was";
  EXPECT_NE(other.h2d_gbps, 5);
}

TEST(NetworkProbe, is_refused_on_all_ranks_where_one_has_no_memory_for_it) {
  Machine machine;
  std::optional<ResourceLimit> little;
  if (g_comm->rank() == 1) little.emplace(RLIMIT_AS, rlim_t{1} << 20);
  try {
    probe_network(machine, *g_comm);
    ADD_FAILURE() << "it was measured";
  } catch (AgreedError const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    std::string const said = error.what();  // on one rank
    EXPECT_TRUE(said.empty() || said ==
                                    "memory to measure the network with: the system does not "
                                    "give 16 MiB: Cannot allocate memory")
        << said;
  }
}

}  // namespace

int run(int argc, char** argv) {
  MpiScope const scope(argc, argv);
  KernelScope const kernels(1);
  auto const comm = make_world_comm({.patience_s = 1800});
  g_comm = comm.get();
  if (comm->rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int const failed = RUN_ALL_TESTS();
  return comm->agree(failed);
}

}  // namespace spillway::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return spillway::test::run(argc, argv);
}
