#include "plan/data/machine_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::machine_file_test {
namespace {

std::string said_of(std::string const& text) {
  return refused_with([&] { parse_profile(text, "m.yaml"); });
}

TEST(MachineFile, is_read_back_as_it_was_written) {
  Machine machine{.matmul_gflops_bf16 = 1.0 / 3, .memory_gbps = 17.25, .nvme_read_gbps = 2};
  machine.device_bytes = std::int64_t{24} << 30;
  machine.target = "sm_86";
  machine.node_ranks = 4;
  machine.op_s["matmul bf16[2,3] -> f32[2]/1: 'x'"] = 1e-7;
  machine.kind_giga_per_s = {{"host adamw", 12.5}, {"attention_backward 64", 3}};
  auto const again = parse_profile(to_yaml(machine), "m.yaml").machine;
  for (auto const& field : machine_fields())
    EXPECT_EQ(again.*field.at, machine.*field.at) << field.key;
  EXPECT_EQ(again.device_bytes, machine.device_bytes);
  EXPECT_EQ(again.target, "sm_86");
  EXPECT_EQ(again.node_ranks, 4);
  EXPECT_EQ(again.op_s, machine.op_s);
  EXPECT_EQ(again.kind_giga_per_s, machine.kind_giga_per_s);
}

TEST(MachineFile, refuses_what_no_machine_is) {
  EXPECT_EQ(said_of("memory_gbps: fast\n"), "m.yaml:1: memory_gbps: expected a number, got 'fast'");
  EXPECT_EQ(said_of("ranks: 0\n"), "m.yaml:1: ranks: 0 is out of bounds: integer >= 1");
  EXPECT_EQ(said_of("nvme: {read_gbps: 2, write_gbps: 1, both_gbps: 4}\n"),
            "m.yaml:1: nvme.both_gbps: 4 is more than reading and writing come to alone, 3");
  EXPECT_EQ(said_of("cores:\n  all: 2\n  compute: 3\n"),
            "m.yaml:3: cores.compute: 3 of 2 cores.all");
  EXPECT_EQ(said_of("memmory_gbps: 1\n"),
            "m.yaml:1: memmory_gbps: unknown key; did you mean memory_gbps?");
  EXPECT_EQ(said_of("ops:\n  matmul: 0\n"), "m.yaml:2: ops.matmul: 0 is not above 0");
  EXPECT_EQ(said_of("ops:\n  add: 1\n  matmul: 0\n"), "m.yaml:3: ops.matmul: 0 is not above 0");
  EXPECT_EQ(said_of("kinds:\n  accumulate: 1\n  adamw: x\n").substr(0, 21),
            "m.yaml:3: kinds.adamw");
  EXPECT_EQ(said_of("kinds:\n  host adamw: 9\n  host adamv: 9\n"),
            "m.yaml:3: kinds.host adamv: unknown kind of op; did you mean host adamw?");
  EXPECT_EQ(said_of("kinds: {sorting: 9}\n"),
            "m.yaml:1: kinds.sorting: unknown kind of op; docs/ops.md lists all");
  EXPECT_EQ(said_of("kinds: {attention 64k: 9}\n"),
            "m.yaml:1: kinds.attention 64k: unknown kind of op; docs/ops.md lists all");
  EXPECT_EQ(said_of("kinds: {adamw 64: 9}\n"),
            "m.yaml:1: kinds.adamw 64: unknown kind of op; docs/ops.md lists all");
  EXPECT_EQ(said_of("kinds: 3\n").substr(0, 15), "m.yaml:1: kinds");
  EXPECT_EQ(said_of("memory_gbps: 0\n"),
            "m.yaml:1: memory_gbps: 0 is out of bounds: number, 0 < x < 1000000000");
  EXPECT_EQ(said_of("memory_gbps: -3\n").substr(0, 26), "m.yaml:1: memory_gbps: -3 ");
  EXPECT_EQ(said_of("memory_gbps: 1e12\n").substr(0, 28), "m.yaml:1: memory_gbps: 1e12 ");
  EXPECT_EQ(said_of("memory_gbps: .inf\n").substr(0, 22), "m.yaml:1: memory_gbps:");
  EXPECT_EQ(said_of("cores: {all: 0}\n").substr(0, 22), "m.yaml:1: cores.all: 0");
  EXPECT_EQ(said_of("cores: 0\n"), "m.yaml:1: cores: expected a map of keys, got '0'");
  EXPECT_EQ(said_of("item_overhead_s: -1\n").substr(0, 29), "m.yaml:1: item_overhead_s: -1");
  EXPECT_EQ(said_of("memory: {host: -1GiB}\n").substr(0, 21), "m.yaml:1: memory.host");
  EXPECT_EQ(said_of("ops:\n  matmul: 1e30\n").substr(0, 27), "m.yaml:2: ops.matmul: 1e30 ");
  EXPECT_EQ(said_of("cores: {host: 5000}\n"), "m.yaml:1: cores.host: 5000 is more than 4096");
  EXPECT_EQ(said_of("cores: {host: 0}\n").substr(0, 23), "m.yaml:1: cores.host: 0");
  EXPECT_EQ(said_of("about: 3\n"), "m.yaml:1: about: expected a map, got '3'");
  EXPECT_EQ(said_of("- 1\n").substr(0, 7), "m.yaml:");
}

TEST(MachineFile, says_what_kernels_are_made_for_where_a_device_has_memory_of_its_own) {
  EXPECT_EQ(parse_profile("ranks: 1\n", "m.yaml").machine.target, "host");
  EXPECT_EQ(said_of("target: host\nmemory: {device: 1GiB}\n"), "") << "as in tests";
  EXPECT_EQ(said_of("target: sm_120\nmemory: {device: 1GiB}\n"), "");
  EXPECT_EQ(
      said_of("memory: {device: 1GiB}\n"),
      "m.yaml:1: memory.device: a device has memory of its own, and what its kernels are made "
      "for is not said; give target, such as sm_90");
  EXPECT_EQ(said_of("ranks: 1\ntarget: sm_90\n"),
            "m.yaml:2: target: sm_90 has memory of its own; give memory.device");
  for (char const* const name : {"sm_", "sm_9", "sm_090", "sm_90a", "sm_-90", "sm_1000", "gfx90"}) {
    auto const target = std::string(name);
    EXPECT_EQ(said_of("target: " + target + "\nmemory: {device: 1GiB}\n"),
              "m.yaml:1: target: '" + target +
                  "' is none: it is host, or an NVIDIA architecture such as sm_90");
  }
  EXPECT_EQ(said_of("target: {a: 1}\n").substr(0, 16), "m.yaml:1: target");
}

TEST(MachineFile, says_what_it_was_measured_on) {
  About const about = {{"cpu", "AMD: 'EPYC' # 9654"}, {"threads", "2"}};
  auto const profile = parse_profile(to_yaml({.memory_gbps = 3}, about), "m.yaml");
  EXPECT_EQ(profile.about, about);
  EXPECT_EQ(profile.machine.memory_gbps, 3);
  EXPECT_TRUE(parse_profile("ranks: 1\n", "m.yaml").about.empty());
}

TEST(MachineFile, rates_that_a_plan_goes_by_must_be_known) {
  auto const said = [](Machine const& machine, bool bf16, bool spill) {
    try {
      require_rates(machine, {bf16, spill}, "m.yaml");
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  Machine machine{.matmul_gflops_f32 = 2, .memory_gbps = 1, .nvme_read_gbps = 1};
  EXPECT_EQ(said(machine, false, false), "");
  EXPECT_TRUE(said(machine, true, false).starts_with("m.yaml: matmul_gflops.bf16: not known"));
  EXPECT_TRUE(said(machine, false, true).starts_with("m.yaml: nvme.write_gbps: not known"));
  machine.kind_giga_per_s["matmul"] = 1;
  EXPECT_EQ(said(machine, true, false), "");
  machine.memory_gbps = 0;
  EXPECT_TRUE(said(machine, true, false).starts_with("m.yaml: memory_gbps: not known"));
}

// Without them state would come and go in no time, and the host would update as fast as the device.
TEST(MachineFile, a_device_with_memory_of_its_own_has_links_and_a_host_that_updates) {
  Machine machine{.matmul_gflops_bf16 = 2, .memory_gbps = 1};
  machine.device_bytes = 1;
  auto const missing = [&](std::int64_t ranks) {
    auto const said = refused_with([&] { require_rates(machine, {true, false, ranks}, "m"); });
    return said.substr(0, said.find(", and "));
  };
  EXPECT_EQ(missing(1), "m: links.h2d_gbps: not known");
  machine.h2d_gbps = 1;
  EXPECT_EQ(missing(1), "m: links.d2h_gbps: not known");
  machine.d2h_gbps = 1;
  EXPECT_EQ(missing(1), "m: kinds.host adamw: not known");
  for (char const* const kind : {"host adamw", "host square_norm", "host accumulate"})
    machine.kind_giga_per_s[kind] = 1;
  EXPECT_EQ(missing(1), "");
  EXPECT_EQ(missing(2), "m: kinds.host tree_sum: not known");
  machine.kind_giga_per_s["host tree_sum"] = 1;
  machine.node_ranks = 2;
  EXPECT_EQ(missing(2), "m: links.node_gbps: not known");
  EXPECT_EQ(missing(4), "m: links.network_gbps: not known");
  machine.network_gbps = 1;
  EXPECT_EQ(missing(2), "");
}

TEST(MachineFile, those_that_come_with_the_program_can_be_read) {
  int count = 0;
  for (auto const& file :
       std::filesystem::directory_iterator(SPILLWAY_SOURCE_DIR "/input/machines")) {
    if (file.path().extension() != ".yaml") continue;
    auto const machine = load_machine(file.path().string());
    EXPECT_GT(machine.matmul_gflops_bf16, 0) << file.path();
    EXPECT_GT(machine.host_bytes, 0) << file.path();
    EXPECT_GT(machine.host_cores, 0) << file.path();
    EXPECT_EQ(machine.target == "host", machine.is_unified()) << file.path();
    ++count;
  }
  EXPECT_GE(count, 5);
}

Machine machine_of(std::string const& more) {
  return parse_profile(
             "target: sm_86\nmemory: {device: 24GiB}\nranks: 4\nkinds: {host adamw: 30, adamw: "
             "700}\n" +
                 more,
             "m.yaml")
      .machine;
}

TEST(HostThreads, are_those_that_rates_assume_unless_others_are_asked) {
  auto const named = machine_of("cores: {host: 3}\n"), unnamed = machine_of("");
  EXPECT_EQ(with_host_threads(named, {}).host_threads(), 3);
  EXPECT_EQ(with_host_threads(named, {}).kind_giga_per_s, named.kind_giga_per_s);
  EXPECT_EQ(with_host_threads(unnamed, {}).host_threads(), 1);
  auto const alone = with_host_threads(named, 1);
  EXPECT_EQ(alone.host_threads(), 1);
  EXPECT_DOUBLE_EQ(alone.kind_giga_per_s.at("host adamw"), 10);
  EXPECT_EQ(alone.kind_giga_per_s.at("adamw"), 700);
  for (auto const& machine : {named, unnamed}) {
    auto const more = with_host_threads(machine, 8);
    EXPECT_EQ(more.host_threads(), 8);
    EXPECT_EQ(more.kind_giga_per_s, machine.kind_giga_per_s) << "more threads bring no more";
  }
}

TEST(HostThreads, are_one_where_memory_is_unified) {
  auto machine = machine_of("cores: {host: 3}\n");
  machine.device_bytes = 0;
  EXPECT_EQ(with_host_threads(machine, {}).host_threads(), 1);
  EXPECT_EQ(with_host_threads(machine, 2).host_threads(), 2);
}

TEST(HostThreads, are_more_where_fewer_ranks_share_a_node) {
  auto const machine = shared_by(machine_of("cores: {host: 3}\n"), 1);
  EXPECT_EQ(machine.host_threads(), 12);
  EXPECT_DOUBLE_EQ(machine.kind_giga_per_s.at("host adamw"), 120);
  EXPECT_DOUBLE_EQ(with_host_threads(machine, 1).kind_giga_per_s.at("host adamw"), 10);
}

// Four ranks a node: of seven peers three are near.
TEST(ExchangeRate, counts_peers_on_the_node_and_elsewhere_by_their_links) {
  Machine machine{.network_gbps = 2};
  machine.node_ranks = 4;
  machine.node_gbps = 6;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(4)), 6);
  EXPECT_EQ(exchange_gbps(machine, all_ranks(3)), 6);
  EXPECT_DOUBLE_EQ(exchange_gbps(machine, all_ranks(8)), 7 / (3 / 6.0 + 4 / 2.0));
  EXPECT_EQ(exchange_gbps(machine, {0, 4, 1}), 6) << "one node's";
  EXPECT_EQ(exchange_gbps(machine, {0, 2, 4}), 2) << "one of each node";
  EXPECT_DOUBLE_EQ(exchange_gbps(machine, {0, 4, 2}), 3 / (1 / 6.0 + 2 / 2.0));
  machine.node_ranks = 1;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(8)), 2);
}

TEST(ExchangeRate, is_that_of_the_one_link_that_is_known) {
  Machine machine;
  machine.node_ranks = 4;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(8)), 0);
  machine.network_gbps = 2;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(8)), 2);
  EXPECT_EQ(exchange_gbps(machine, all_ranks(2)), 2);
  machine.network_gbps = 0;
  machine.node_gbps = 5;
  EXPECT_EQ(exchange_gbps(machine, all_ranks(8)), 5);
}

}  // namespace
}  // namespace spillway::test::machine_file_test
