#include "fault_test.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace spillway::test {
namespace {

constexpr auto kJob = R"(
model: {{family: gpt, layers: 2, hidden: 64, heads: 2, vocab: 256}}
data: {{train: {0}/tokens.h5, sequence: 64}}
batch: {{sequences: 8, micro: 4}}
optim: {{schedule: constant, warmup: 0}}
precision: fp32
memory: {{device: 64MiB}}
run: {{steps: 4, threads: 1, dir: {0}/run, log: {{every: 1}}}}
debug: {{machine: {1}}}
)";

std::string own_name() {
  auto const* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{}.{}", info->test_suite_name(), info->name());
}

}  // namespace

FaultTest::FaultTest() : m_dir(scratch_directory(own_name())) {
  write("job.yaml", fmt::format(kJob, m_dir.string(), machine_file()));
  write_token_file(m_dir / "tokens.h5", 20000);
  std::filesystem::create_directory(m_dir / "nvme");
}

FaultTest::~FaultTest() {
  if (!HasFailure()) std::filesystem::remove_all(m_dir);
}

void FaultTest::write(std::string const& name, std::string const& bytes) const {
  std::ofstream(m_dir / name, std::ios::binary) << bytes;
}

std::string FaultTest::read(std::string const& name) const {
  std::ostringstream bytes;
  bytes << std::ifstream(m_dir / name, std::ios::binary).rdbuf();
  return bytes.str();
}

std::string FaultTest::train_command(std::string const& overrides, int ranks) const {
  return fmt::format("{} train {} {}", spillway_command(ranks), path("job.yaml"), overrides);
}

Outcome FaultTest::train(std::string const& overrides, int ranks) const {
  return run_command(train_command(overrides, ranks));
}

std::string FaultTest::until(std::string const& condition) {
  return "until " + condition + "; do kill -0 $! || exit 1; sleep 0.02; done; ";
}

std::string FaultTest::spilling() const {
  return fmt::format(
      " memory.nvme.path={} memory.nvme.size=64MiB plan.activations=nvme spill.checksum=true ",
      path("nvme"));
}

std::map<std::int64_t, std::string> FaultTest::bits(std::string const& run) const {
  std::map<std::int64_t, std::string> result;
  for (auto const& row : read_metrics(m_dir / run)) {
    result[row["step"]] = row["loss_hex"].get<std::string>() +
                          row["grad_norm_hex"].get<std::string>() + row.value("valid_loss_hex", "");
  }
  return result;
}

std::vector<std::string> complaints(Outcome const& outcome) {
  std::vector<std::string> result;
  for (auto const& line : outcome.lines()) {
    bool const ours = line.starts_with("spillway: ");
    bool const mild = line.starts_with("spillway: info: ") || line.starts_with("spillway: warning");
    if (ours && !mild) result.push_back(line);
  }
  return result;
}

::testing::AssertionResult fails_with(int status, std::string const& text, Outcome const& outcome) {
  auto const said = complaints(outcome);
  if (outcome.status == status && said.size() == 1 && said[0].find(text) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "expected status " << status << " and one complaint with '" << text << "', got status "
         << outcome.status << " and\n"
         << outcome.output;
}

}  // namespace spillway::test
