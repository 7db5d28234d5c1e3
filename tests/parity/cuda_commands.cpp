// What other commands print beside a device is what they print on the cores, to the last digit.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "io/ring/probe.hpp"
#include "plan/data/machine_file.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/cuda/step_calls.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::cuda_commands_test {
namespace {

std::string on_cores(std::string command) {
  constexpr std::string_view suffix = "_on_stand_in";
  command.erase(command.find(suffix), suffix.size());
  return command;
}

class DeviceCommands : public ::testing::Test {
 protected:
  void expect_equal_results(std::string const& arguments) const {
    auto const command = spillway_command(0);
    auto const results = arguments + " 2>/dev/null";  // times stand beside progress
    auto const beside = run_command(command + results);
    EXPECT_EQ(beside.status, 0) << run_command(command + arguments).output;
    EXPECT_EQ(beside.output, run_command(on_cores(command) + results).output);
  }

  Experiment const m_experiment{"device_commands", 0, {"precision=fp32"}};
  test::Run const m_run = m_experiment.run("run", {"plan.activations=nvme"});
  std::string const m_checkpoint = (m_run.dir / "step-6").string();
};

TEST_F(DeviceCommands, generate_samples_the_same_text) {
  expect_equal_results(
      fmt::format(" generate --checkpoint {} --prompt ab --tokens 20", m_checkpoint));
}

TEST_F(DeviceCommands, eval_has_the_same_loss) {
  auto const input = (m_run.dir.parent_path() / "in.yaml").string();
  expect_equal_results(
      fmt::format(" eval {} --checkpoint {} precision=fp32 batch.micro=2", input, m_checkpoint));
}

TEST_F(DeviceCommands, a_checkpoint_of_either_goes_on_with_the_other) {
  auto const more = fmt::format(" train {} precision=fp32 run.steps=8 run.dir={} ",
                                (m_run.dir.parent_path() / "in.yaml").string(), m_run.dir.string());
  auto const outcome =
      run_command(on_cores(spillway_command(0)) + more + "debug.machine=none memory.nvme=none");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_metrics(m_run.dir).back().at("step"), 8);
}

#if SPILLWAY_CUBLASLT
// Returns what a checkpoint's seal says of the algorithms of products.
std::string products_in(std::filesystem::path const& checkpoint) {
  std::ifstream file(checkpoint / "seal");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  auto const first = text.find("products"), last = text.find("ranks", first);
  return first == text.npos ? "" : text.substr(first, last - first);
}

TEST_F(DeviceCommands, a_run_keeps_the_algorithms_of_its_products) {
  auto const before = products_in(m_checkpoint);
  EXPECT_NE(before.find("stand-in for a GPU, cublasLt "), before.npos) << before;
  auto const more = fmt::format(" train {} precision=fp32 run.steps=8 run.dir={} ",
                                (m_run.dir.parent_path() / "in.yaml").string(), m_run.dir.string());
  auto const again = run_command(spillway_command(0) + more + "debug.machine=none");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(again.output.find("products:"), again.output.npos) << again.output;
  EXPECT_EQ(products_in(m_run.dir / "step-8"), before);
  auto const on_host = run_command(on_cores(spillway_command(0)) + more +
                                   "run.steps=9 debug.machine=none memory.nvme=none");
  EXPECT_EQ(on_host.status, 0) << on_host.output;
  EXPECT_NE(on_host.output.find("products: stand-in for a GPU, cublasLt "), on_host.output.npos)
      << on_host.output;
}
#endif

TEST_F(DeviceCommands, train_tells_what_it_pinned_and_registers_what_the_drive_uses) {
  auto const& summary = m_run.summary;
  auto const host_bytes = m_run.peak_bytes("predicted_peak_bytes", "host");
  auto const pinned_bytes = summary.at("pinned_bytes").get<std::int64_t>();
  EXPECT_GE(pinned_bytes, host_bytes);
  EXPECT_LT(pinned_bytes, host_bytes + 4096);
  EXPECT_GT(summary.at("pinning_s").get<double>(), 0);
  EXPECT_NE(m_run.output.find("of main memory took"), std::string::npos) << m_run.output;
  bool const can_register = probe_ring(pinned_bytes).fixed_buffers;
  if (can_register) {
    EXPECT_EQ(summary.at("spill").at("backend"), "uring");
  }
}

TEST_F(DeviceCommands, rok_measures_a_curve) {
  auto const dir = m_run.dir.parent_path();
  std::ofstream(dir / "rok.yaml") << "model: {layers: 2, hidden: 64, heads: 2, vocab: 300}\n"
                                     "data: {sequence: 64}\nbatch: {sequences: 2, micro: 2}\n"
                                     "memory: {device: 1GiB}\n";
  auto const curve = (dir / "rok.csv").string();
  auto const outcome = run_command(fmt::format("{} rok {} --micro 2 -o {}", spillway_command(0),
                                               (dir / "rok.yaml").string(), curve));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  std::ifstream file(curve);
  auto const lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  EXPECT_GE(lines, 3) << "a line for each policy that needs no other memory, and their names";
}

// Ranks make one plan, which must fit the smallest device.
TEST_F(DeviceCommands, profile_tells_of_the_smallest_device_of_all_ranks) {
  auto const dir = m_run.dir.parent_path();
  std::ofstream(dir / "rank.sh") << "export SPILLWAY_STAND_IN_MEMORY=$((2147483648 - "
                                    "OMPI_COMM_WORLD_RANK * 536870912))\nexec \"$@\"\n";
  auto command = spillway_command(2);
  auto const program = spillway_command(0);
  command.insert(command.find(program), "sh " + (dir / "rank.sh").string() + " ");
  auto const file = (dir / "machine.yaml").string();
  auto const outcome = run_command(fmt::format("{} profile {} debug.machine=none -o {}", command,
                                               (dir / "in.yaml").string(), file));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(load_machine(file).device_bytes, 2147483648 - 536870912);
}

TEST_F(DeviceCommands, doctor_lists_the_devices_and_what_is_free_on_each) {
  auto const doctor = run_command("SPILLWAY_STAND_IN_DEVICES=2 SPILLWAY_STAND_IN_TAKEN=536870912 " +
                                  spillway_command(0) + " doctor " + m_run.dir.string());
  EXPECT_EQ(doctor.status, 0);
  auto const device = ":{}            stand-in for a GPU, sm_90, 3.5 GiB of 4 GiB free\n";
  for (int const number : {0, 1})
    EXPECT_NE(doctor.output.find("  cuda" + fmt::format(fmt::runtime(device), number)),
              std::string::npos)
        << doctor.output;
  EXPECT_EQ(doctor.output.find("cuda:2"), std::string::npos);
}

// Pinned memory is resident when the process is measured before step 0, and belongs to the plan.
TEST(DeviceMemoryAccount, does_not_count_pinned_memory_twice) {
  Experiment const experiment("device_account", 0,
                              {"model.hidden=256", "model.heads=4", "data.sequence=256",
                               "batch.micro=8", "run.steps=1", "run.eval.every=0"});
  auto const keep = experiment.run("keep", {"plan.activations=keep"});
  auto const host = experiment.run("host", {"plan.activations=host"});
  auto const pinned = [](test::Run const& run) -> std::int64_t {
    return run.summary.at("pinned_bytes");
  };
  auto const device = [](test::Run const& run) {
    return run.peak_bytes("predicted_peak_bytes", "device");
  };
  // The stand-in's device memory is main memory, too, and is all written when it is committed.
  auto const outside = [&](test::Run const& run) {
    return run.summary.at("outside_bytes").get<std::int64_t>() - device(run);
  };
  auto const more = pinned(host) - pinned(keep);
  EXPECT_GT(more, 32 << 20);
  // The stand-in also has up to a byte of its own for each byte of device memory.
  auto const grown = outside(host) - outside(keep), own = device(keep) - device(host);
  EXPECT_LT(grown, more / 4) << outside(host) << " " << outside(keep) << " " << more;
  EXPECT_GT(grown, -own - more / 4) << outside(host) << " " << outside(keep) << " " << own;
}

cuda::Calls read_calls(std::filesystem::path const& path) {
  cuda::Calls calls;
  std::ifstream file(path);
  std::string name;
  for (std::int64_t count = 0; file >> name >> count;) calls[name] = count;
  return calls;
}

// With evaluations and checkpoints, which both runs have.
TEST(DeviceCalls, of_later_steps_make_load_and_give_back_nothing) {
  Experiment const experiment("device_calls", 0, {"plan.activations=nvme", "plan.replan=false"});
  auto const calls_of = [&](std::string const& steps) {
    auto const path = scratch_directory("calls_" + steps) / "calls";
    ::setenv("SPILLWAY_STAND_IN_CALLS", path.c_str(), 1);
    experiment.run("steps_" + steps, {"run.steps=" + steps});
    ::unsetenv("SPILLWAY_STAND_IN_CALLS");
    return read_calls(path);
  };
  auto few = calls_of("3"), many = calls_of("9");
  EXPECT_EQ(cuda::differing_calls(few, many), std::vector<std::string>{});
  EXPECT_GT(many["launch"], 2 * few["launch"]);
}

}  // namespace
}  // namespace spillway::test::cuda_commands_test
