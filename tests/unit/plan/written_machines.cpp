// A machine file to the letter, in which every number is another; and what is said of numbers that
// are just outside of what they may be.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/data/machine_file.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::written_machines_test {
namespace {

Machine every_number() {
  Machine machine{.matmul_gflops_bf16 = 101,
                  .matmul_gflops_f32 = 102,
                  .memory_gbps = 103,
                  .nvme_write_gbps = 104,
                  .nvme_read_gbps = 105,
                  .network_gbps = 106,
                  .item_overhead_s = 107,
                  .nvme_both_gbps = 108,
                  .h2d_gbps = 109,
                  .d2h_gbps = 110,
                  .cores = 111,
                  .compute_cores = 90,
                  .nvme_core_s_per_gb = 113,
                  .node_gbps = 114,
                  .host_cores = 115,
                  .peak_gflops_bf16 = 116,
                  .peak_gflops_f32 = 117,
                  .target = "sm_86",
                  .device_bytes = std::int64_t{2} << 30,
                  .host_bytes = std::int64_t{3} << 30,
                  .nvme_bytes = std::int64_t{4} << 30,
                  .node_ranks = 6,
                  .nvme_endurance_bytes = 7'000'000'000'000,
                  .nvme_drives = 118,
                  .nvme_rated_amplification = 119,
                  .nvme_write_amplification = 120,
                  .nvme_retention_gain = 121,
                  .power_w = 122,
                  .price_per_hour = 123};
  machine.op_s = {{"add f32[2] -> f32[2]", 0.25}, {"host adamw", 0.5}};
  machine.kind_giga_per_s = {{"accumulate", 12}, {"host adamw", 13}};
  return machine;
}

TEST(WrittenMachines, have_every_number_under_its_key_and_say_what_it_is) {
  expect_frozen("machine.txt", to_yaml(every_number(), {{"cpu", "EPYC"}, {"threads", "2"}}));
}

// Of a rate, a size and a cost; what has a value by itself has it.
TEST(WrittenMachines, say_what_is_not_known) {
  auto const text = to_yaml({});
  for (char const* const line :
       {"\n  all: unknown\n", "\n  compute: unknown\n", "\n  device: unknown\n",
        "\n  host: unknown\n", "\n  nvme: unknown\n", "\n  core_s_per_gb: unknown\n",
        "\npower_w: unknown\n", "\nprice_per_hour: unknown\n", "\n  drives: 1\n",
        "\n  rated_amplification: 2.5\n", "\n  write_amplification: 1\n",
        "\n  retention_gain: 86\n", "\nitem_overhead_s: unknown\n", "\ntarget: host\n",
        "\nranks: 1\n"})
    EXPECT_NE(text.find(line), text.npos) << line << text;
  EXPECT_TRUE(text.starts_with("# What the compute lane")) << text;
  EXPECT_EQ(text.find("\nkinds:"), text.npos);
  EXPECT_EQ(text.find("\nops:"), text.npos);
}

TEST(WrittenMachines, are_read_back_with_every_number) {
  auto const before = every_number();
  auto const profile = parse_profile(to_yaml(before, {{"cpu", "EPYC"}}), "m.yaml");
  auto const& machine = profile.machine;
  EXPECT_EQ(profile.about, (About{{"cpu", "EPYC"}}));
  for (auto const& field : machine_fields())
    EXPECT_EQ(machine.*field.at, before.*field.at) << field.key;
  EXPECT_EQ(machine.target, before.target);
  EXPECT_EQ(machine.device_bytes, before.device_bytes);
  EXPECT_EQ(machine.host_bytes, before.host_bytes);
  EXPECT_EQ(machine.nvme_bytes, before.nvme_bytes);
  EXPECT_EQ(machine.node_ranks, before.node_ranks);
  EXPECT_EQ(machine.nvme_endurance_bytes, before.nvme_endurance_bytes);
  EXPECT_EQ(machine.nvme_drives, before.nvme_drives);
  EXPECT_EQ(machine.nvme_rated_amplification, before.nvme_rated_amplification);
  EXPECT_EQ(machine.nvme_write_amplification, before.nvme_write_amplification);
  EXPECT_EQ(machine.nvme_retention_gain, before.nvme_retention_gain);
  EXPECT_EQ(machine.power_w, before.power_w);
  EXPECT_EQ(machine.price_per_hour, before.price_per_hour);
  EXPECT_EQ(machine.op_s, before.op_s);
  EXPECT_EQ(machine.kind_giga_per_s, before.kind_giga_per_s);
}

std::string said_of(std::string const& text) {
  return refused_with([&] { parse_profile(text, "m.yaml"); });
}

TEST(ReadMachines, have_numbers_up_to_their_bounds) {
  EXPECT_EQ(said_of("nvme: {read_gbps: 2, write_gbps: 1, both_gbps: 3}\n"), "");
  EXPECT_EQ(said_of("cores: {all: 3, compute: 3}\n"), "");
  EXPECT_EQ(said_of("cores: {host: 4096}\n"), "");
  EXPECT_EQ(said_of("cores: {host: 4096.4}\n"), "") << "a whole number of threads";
  EXPECT_EQ(said_of("item_overhead_s: 0\n"), "") << "a cost may be nothing";
  EXPECT_EQ(said_of("nvme: {core_s_per_gb: 0}\ncores: {compute: 0}\n"), "");
  EXPECT_EQ(said_of("ops: {a: 999999999}\nkinds: {accumulate: 0.5}\n"), "");
  EXPECT_EQ(said_of("ops:\n  a: 1000000000\n"),
            "m.yaml:2: ops.a: 1000000000 is not below 1000000000");
  EXPECT_EQ(said_of("kinds: {accumulate: -1}\n"), "m.yaml:1: kinds.accumulate: -1 is not above 0");
  EXPECT_EQ(said_of("ops: 3\n"), "m.yaml:1: ops: expected a map, got '3'");
  EXPECT_EQ(said_of("ranks: 2\nkinds: [1]\n").substr(0, 38),
            "m.yaml:2: kinds: expected a map, got a");
  EXPECT_EQ(said_of("about:\n  cpu: {a: 1}\n").substr(0, 15), "m.yaml:2: cpu: ");
  EXPECT_EQ(said_of("cores: {compute: 1}\n"), "m.yaml:1: cores.compute: 1 of 0 cores.all");
  EXPECT_EQ(said_of("nvme: {drives: 0}\n"),
            "m.yaml:1: nvme.drives: 0 is out of bounds: integer >= 1");
  EXPECT_EQ(said_of("nvme: {retention_gain: 0.5}\n").substr(0, 34),
            "m.yaml:1: nvme.retention_gain: 0.5");
  EXPECT_EQ(said_of("power_w: 0\n").substr(0, 20), "m.yaml:1: power_w: 0");
  EXPECT_EQ(said_of("price_per_hour: cheap\n"),
            "m.yaml:1: price_per_hour: expected a number, got 'cheap'");
  EXPECT_EQ(said_of("ranks: x\n").substr(0, 17), "m.yaml:1: ranks: ");
  EXPECT_EQ(said_of("nvme: {endurance: 0}\n").substr(0, 26), "m.yaml:1: nvme.endurance: ");
}

// The first rate that is missing, by its key and with the reason.
TEST(ReadMachines, lack_the_rates_that_plans_go_by) {
  auto const said = [](Machine const& machine, bool bf16, bool spill) -> std::string {
    return refused_with([&] { require_rates(machine, {bf16, spill}, "m.yaml"); });
  };
  Machine machine{.matmul_gflops_bf16 = 1};
  constexpr auto products = "not known, and products take nearly all of a step; give it";
  constexpr auto spills = "not known, and plans may spill (memory.nvme); give it";
  EXPECT_EQ(said(machine, false, true), fmt::format("m.yaml: matmul_gflops.fp32: {}", products));
  EXPECT_EQ(said(machine, true, true),
            "m.yaml: memory_gbps: not known, and all other ops go by it; give it");
  machine.memory_gbps = 1;
  EXPECT_EQ(said(machine, true, true), fmt::format("m.yaml: nvme.write_gbps: {}", spills));
  machine.nvme_write_gbps = 1;
  EXPECT_EQ(said(machine, true, true), fmt::format("m.yaml: nvme.read_gbps: {}", spills));
  EXPECT_EQ(said(machine, true, false), "");
  machine.nvme_read_gbps = 1;
  EXPECT_EQ(said(machine, true, true), "");
  machine.matmul_gflops_bf16 = 0;
  EXPECT_EQ(said(machine, true, true), fmt::format("m.yaml: matmul_gflops.bf16: {}", products));
}

// With a device of its own a machine of four ranks has room for fewer whole threads beside three.
TEST(SharedMachines, give_a_rank_whole_threads_and_drives_beside_a_device_and_no_more_without) {
  Machine machine{.nvme_write_gbps = 3, .nvme_read_gbps = 6, .nvme_both_gbps = 7.5};
  machine.host_cores = 5;
  machine.node_ranks = 4;
  machine.kind_giga_per_s = {{"adamw", 30}, {"host adamw", 60}};
  auto const unified = shared_by(machine, 3);
  EXPECT_EQ(unified.node_ranks, 3);
  EXPECT_EQ(unified.host_cores, 5);
  EXPECT_EQ(unified.nvme_write_gbps, 3);
  EXPECT_EQ(unified.kind_giga_per_s, machine.kind_giga_per_s);
  machine.device_bytes = 1;
  auto const shared = shared_by(machine, 3);
  EXPECT_EQ(shared.node_ranks, 3);
  EXPECT_EQ(shared.host_cores, 6);
  EXPECT_DOUBLE_EQ(shared.nvme_write_gbps, 4);
  EXPECT_DOUBLE_EQ(shared.nvme_read_gbps, 8);
  EXPECT_DOUBLE_EQ(shared.nvme_both_gbps, 10);
  EXPECT_EQ(shared.kind_giga_per_s.at("adamw"), 30);
  EXPECT_DOUBLE_EQ(shared.kind_giga_per_s.at("host adamw"), 80);
  EXPECT_DOUBLE_EQ(with_host_threads(shared, 2).kind_giga_per_s.at("host adamw"), 80 / 3.0);
}

// Where nobody asks, one thread of the host lane runs beside those that compute, at its own rate.
TEST(SharedMachines, have_one_host_thread_where_memory_is_unified) {
  Machine machine{.host_cores = 4};
  machine.kind_giga_per_s = {{"host adamw", 60}, {"hosted", 7}};
  EXPECT_EQ(with_host_threads(machine, {}).host_cores, 1);
  EXPECT_DOUBLE_EQ(with_host_threads(machine, {}).kind_giga_per_s.at("host adamw"), 15);
  EXPECT_EQ(with_host_threads(machine, {}).kind_giga_per_s.at("hosted"), 7);
}

TEST(SharedMachines, of_one_rank_exchange_at_the_rate_of_the_node) {
  Machine machine{.network_gbps = 2};
  EXPECT_EQ(exchange_gbps(machine, all_ranks(1)), 2);
  machine.node_gbps = 6;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(1)), 6);
}

TEST(SlowestMachine, has_the_memory_and_the_target_of_the_first) {
  auto const first = every_number();
  Machine second;
  second.op_s = first.op_s;
  auto const result = slowest(std::array{first, second});
  EXPECT_EQ(result.target, "sm_86");
  EXPECT_EQ(result.device_bytes, first.device_bytes);
  EXPECT_EQ(result.host_bytes, first.host_bytes);
  EXPECT_EQ(result.nvme_bytes, first.nvme_bytes);
  EXPECT_EQ(result.node_ranks, 6);
}

}  // namespace
}  // namespace spillway::test::written_machines_test
