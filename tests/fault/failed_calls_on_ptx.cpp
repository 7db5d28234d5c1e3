// Calls of CUDA that fail under the module for GPUs, above all those that Kokkos makes: the run
// ends with its status and one line that names what was launched or called, on one rank and on two,
// and the next start goes on to the same bits.
#include <fmt/format.h>

#include <fstream>
#include <regex>

#include "fault_test.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::failed_calls_on_ptx_test {
namespace {

namespace fs = std::filesystem;

// A fault of a call, KIND of SPILLWAY_STAND_IN_FAULT. `said` is a regular expression.
struct Fault {
  std::string call, kind, said;
};
std::ostream& operator<<(std::ostream& out, Fault const& fault) {
  return out << fault.call << ':' << fault.kind;
}

std::string const kIllegal = "an illegal memory access was encountered";
std::string const kBusy = "CUDA-capable device\\(s\\) is/are busy or unavailable";
// What begins a complaint: an op, such as "h.0/qkv.dx"; what the program asked of a device.
std::string const kOp = "[a-z0-9_.]+/[a-z0-9_.]+: ";
std::string const kAsked = "CUDA device 0 at 0000:01:00.0: [a-z ]+: cuda[A-Za-z]+: [A-Za-z]+: ";

// Of Kokkos' own calls it is the choice of the device that precedes each launch.
std::string by_kokkos(std::string const& text) {
  return "cudaSetDevice\\(.*\\) error\\( [A-Za-z]+\\): " + text + ".*";
}

// A device that has failed for good may be seen first by another thread than the one that called.
std::string anywhere(std::string const& text) {
  return fmt::format("{0}{1}|{0}{2}|{0}cublasLtMatmul: .*|{3}{1}", kOp, text, by_kokkos(text),
                     kAsked);
}

std::vector<Fault> faults_of_steps() {
  return {{"cudaLaunchKernel", "failed", kOp + kIllegal},
          {"cudaLaunchKernel", "sticky", anywhere(kIllegal)},
          {"cudaLaunchKernel", "lost_device", anywhere(kBusy)},
          {"cudaLaunchKernel", "faulty", anywhere(kIllegal)},
          {"cudaSetDevice", "failed", kOp + by_kokkos(kIllegal)},
          {"cudaSetDevice", "sticky", anywhere(kIllegal)},
          {"cudaSetDevice", "lost_device", anywhere(kBusy)},
          {"cublasLtMatmul", "failed", kOp + "cublasLtMatmul: .*"},
          {"cublasLtMatmul", "lost_device", anywhere(kBusy)},
          {"cudaMemcpyAsync", "sticky", anywhere(kIllegal)},
          {"cudaEventQuery", "lost_device", anywhere(kBusy)}};
}

// The first calls of these kinds are made before step 0.
std::vector<Fault> faults_of_starts() {
  return {{"cudaLaunchKernel", "failed", "beginning Kokkos: .*"},
          {"cudaMalloc", "out_of_memory", "beginning Kokkos: cudaMalloc.*out of memory.*"},
          {"cudaStreamCreate", "failed", "beginning Kokkos: cudaStreamCreate.*"},
          {"cublasLtCreate", "failed", "matrix products on a GPU: cublasLtCreate: .*"},
          {"cudaFuncSetAttribute", "failed", kOp + ".*" + kIllegal}};
}

class FailedCalls : public FaultTest, public ::testing::WithParamInterface<int> {
 protected:
  Outcome train_with(Fault const& fault, std::int64_t number, std::string const& keys) const {
    return run_command(
        fmt::format("SPILLWAY_STAND_IN_FAULT={}:{}:{} ", fault.call, number, fault.kind) +
        train_command(keys, GetParam()));
  }

  // Trains without a fault and returns how often each call was made.
  std::map<std::string, std::int64_t> whole_run(std::string const& keys) const {
    fs::remove_all(m_dir / "run");
    auto const outcome = run_command("SPILLWAY_STAND_IN_CALLS=" + path("calls") + " " +
                                     train_command(keys, GetParam()));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::ifstream file(path("calls"));
    std::map<std::string, std::int64_t> calls;
    std::string name;
    for (std::int64_t count = 0; file >> name >> count;) calls[name] = count;
    return calls;
  }

  void expect_end(Fault const& fault, Outcome const& outcome) const {
    EXPECT_TRUE(fails_with(8, "", outcome));
    auto const said = complaints(outcome);
    if (said.empty()) return;
    auto const who = GetParam() == kAlone ? "" : "rank 0: ";
    EXPECT_TRUE(
        std::regex_match(said[0], std::regex(fmt::format("spillway: {}({})", who, fault.said))))
        << said[0];
    EXPECT_EQ(outcome.output.find("Kokkos::Cuda ERROR"), std::string::npos) << outcome.output;
    if (GetParam() == kAlone) {
      EXPECT_TRUE(outcome.output.ends_with(said[0] + "\n")) << outcome.output;
    }
    EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
  }

  // Of so many calls, one in the first step or the second. How often a thread asks whether events
  // have come depends on the machine, and the next run may ask less often.
  static std::int64_t number_in_a_step(std::string const& call, std::int64_t calls) {
    if (call == "cudaEventQuery") return std::min<std::int64_t>(calls / 4, 200);
    auto const percent = 30 + static_cast<std::int64_t>(turn_of(60));
    return calls * percent / 100;
  }

  // Returns which lanes update in this run of the test: ordinarily one has its turn.
  std::vector<std::string> update_lanes() const {
    std::vector<std::string> const all = {"host", "device"};
    return takes_all() ? all : std::vector{all[turn_of(all.size(), GetParam() / 2)]};
  }

  // Every lane has something to do. Norms are computed where updates are.
  std::string tiny(std::string const& update = "host") const {
    return spilling() +
           "model.layers=1 model.hidden=32 data.sequence=16 batch.sequences=2 batch.micro=1 "
           "run.steps=2 run.checkpoint.every=1 optim.clip=0.25 plan.optimizer=host "
           "plan.parameters=host plan.gradients=" +
           update + " plan.update=" + update + " ";
  }
};

TEST_P(FailedCalls, in_a_step_end_a_run_that_the_next_start_resumes) {
  auto const faults = faults_of_steps();
  // Ordinarily two of them have their turn.
  auto const some = takes_all() ? faults.size() : 2;
  for (auto const& lane : update_lanes()) {
    auto const keys = tiny(lane);
    auto const calls = whole_run(keys);
    auto const whole = bits("run");
    for (std::size_t i = 0; i < some; ++i) {
      auto const& fault = faults[takes_all() ? i : turn_of(faults.size(), i * 5 + GetParam())];
      auto const number = number_in_a_step(fault.call, calls.at(fault.call));
      SCOPED_TRACE(fmt::format("{}:{}:{}, updates on {}", fault.call, number, fault.kind, lane));
      fs::remove_all(m_dir / "run");
      expect_end(fault, train_with(fault, number, keys));
      auto const outcome = train(keys, GetParam());
      EXPECT_EQ(outcome.status, 0) << outcome.output;
      EXPECT_EQ(bits("run"), whole);
    }
  }
}

TEST_P(FailedCalls, before_step_0_end_the_start) {
  auto const faults = faults_of_starts();
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!takes_all() && i != turn_of(faults.size(), GetParam())) continue;
    SCOPED_TRACE(::testing::PrintToString(faults[i]));
    fs::remove_all(m_dir / "run");
    expect_end(faults[i], train_with(faults[i], 0, tiny()));
    EXPECT_TRUE(bits("run").empty());
  }
}

// No module is compiled for an sm_75.
TEST_P(FailedCalls, are_none_on_a_device_for_which_there_is_no_code) {
  auto const outcome = run_command("SPILLWAY_STAND_IN_ARCHITECTURES=75 " +
                                   train_command(tiny() + "run.device=cuda:0 ", GetParam()));
  EXPECT_TRUE(
      fails_with(2,
                 "run.device: cuda:0: rank 0 cannot use it: stand-in for a GPU is an sm_75, "
                 "and the module is compiled for ",
                 outcome));
}

INSTANTIATE_TEST_SUITE_P(Ranks, FailedCalls, ::testing::Values(kAlone, kTwoRanks));

}  // namespace
}  // namespace spillway::test::failed_calls_on_ptx_test
