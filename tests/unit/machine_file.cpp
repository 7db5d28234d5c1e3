#include "plan/machine_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"

namespace spillway::test {
namespace {

std::string said_of(std::string const& text) {
  try {
    parse_machine(text, "m.yaml");
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    return error.what();
  }
  return "";
}

TEST(MachineFile, IsReadBackAsItWasWritten) {
  Machine machine{.matmul_gflops_bf16 = 1.0 / 3, .memory_gbps = 17.25, .nvme_read_gbps = 2};
  machine.device_bytes = std::int64_t{24} << 30;
  machine.node_ranks = 4;
  machine.op_s["matmul bf16[2,3] -> f32[2]/1: 'x'"] = 1e-7;
  machine.kind_giga_per_s["host adamw"] = 12.5;
  auto const again = parse_machine(to_yaml(machine), "m.yaml");
  for (auto const& field : machine_fields())
    EXPECT_EQ(again.*field.at, machine.*field.at) << field.key;
  EXPECT_EQ(again.device_bytes, machine.device_bytes);
  EXPECT_EQ(again.node_ranks, 4);
  EXPECT_EQ(again.op_s, machine.op_s);
  EXPECT_EQ(again.kind_giga_per_s, machine.kind_giga_per_s);
}

TEST(MachineFile, RefusesWhatNoMachineIs) {
  EXPECT_EQ(said_of("memory_gbps: fast\n"), "m.yaml:1: memory_gbps: expected a number, got 'fast'");
  EXPECT_EQ(said_of("ranks: 0\n"), "m.yaml:1: ranks: 0 is out of bounds: integer >= 1");
  EXPECT_EQ(said_of("nvme: {read_gbps: 2, write_gbps: 1, both_gbps: 4}\n"),
            "m.yaml:1: nvme.both_gbps: 4 is more than reading and writing come to alone, 3");
  EXPECT_EQ(said_of("cores:\n  all: 2\n  compute: 3\n"),
            "m.yaml:3: cores.compute: 3 of 2 cores.all");
  EXPECT_EQ(said_of("memmory_gbps: 1\n"),
            "m.yaml:1: memmory_gbps: unknown key; did you mean memory_gbps?");
  EXPECT_EQ(said_of("ops:\n  matmul: 0\n"), "m.yaml:2: ops.matmul: 0 is not above 0");
  EXPECT_EQ(said_of("kinds: 3\n").substr(0, 15), "m.yaml:1: kinds");
}

TEST(MachineFile, ThoseThatComeWithTheProgramCanBeRead) {
  int count = 0;
  for (auto const& file :
       std::filesystem::directory_iterator(SPILLWAY_SOURCE_DIR "/input/machines")) {
    if (file.path().extension() != ".yaml") continue;
    auto const machine = load_machine(file.path().string());
    EXPECT_GT(machine.matmul_gflops_bf16, 0) << file.path();
    EXPECT_GT(machine.host_bytes, 0) << file.path();
    ++count;
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace spillway::test
