#include "tests/parity/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <set>

#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kTrainTokens = 12'000;

constexpr auto kInput = R"(model: {{family: gpt, layers: 3, hidden: 64, heads: 2}}
data: {{train: {0}/train.h5, valid: {0}/valid.h5, sequence: 64}}
batch: {{sequences: 8, micro: 4}}
optim: {{lr: 3e-3, min_lr: 3e-4, warmup: 2}}
memory: {{device: 1GiB, nvme: {{path: {0}, size: 1GiB}}}}
run: {{steps: 6, threads: 1, log: {{every: 1}}, eval: {{every: 3, batches: 1}},
       checkpoint: {{every: 3, keep: 5}}}}
debug: {{machine: {1}}}
)";

std::vector<std::byte> tensor(CheckpointReader& reader, TensorInfo const& info) {
  auto bytes = size_bytes(info.type);
  for (auto const extent : info.shape) bytes *= extent;
  std::vector<std::byte> values(static_cast<std::size_t>(bytes));
  reader.read(info.group, info.name, 0, values);
  return values;
}

nlohmann::json const* row_of(Run const& run, nlohmann::json const& step) {
  for (auto const& row : run.rows) {
    if (row.at("step") == step) return &row;
  }
  return nullptr;
}

}  // namespace

Keys operator+(Keys left, Keys const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

double Run::number(std::size_t row, char const* key) const {
  return rows.at(row).at(key).get<double>();
}

std::int64_t Run::spilled_bytes() const {
  std::int64_t sum = 0;
  for (auto const& row : rows) sum += row.at("spilled_bytes").get<std::int64_t>();
  return sum;
}

std::int64_t Run::peak_bytes(char const* which, char const* tier) const {
  return summary.at(which).at(tier).get<std::int64_t>();
}

Experiment::Experiment(std::string const& name, int ranks, Keys keys)
    : m_directory(scratch_directory(name)), m_ranks(ranks), m_keys(std::move(keys)) {
  write_token_file(m_directory / "train.h5", kTrainTokens, kDocumentTokens);
  write_token_file(m_directory / "valid.h5", kValidTokens, kDocumentTokens);
  std::ofstream(m_directory / "in.yaml")
      << fmt::format(kInput, m_directory.string(), machine_file());
}

Run Experiment::run(std::string const& name, Keys const& keys) const {
  std::filesystem::create_directory(m_directory / name);
  return start(name, keys);
}

Run Experiment::resume(std::string const& name, Run const& before, int step,
                       Keys const& keys) const {
  auto const checkpoint = fmt::format("step-{}", step);
  std::filesystem::create_directory(m_directory / name);
  std::filesystem::copy(before.dir / checkpoint, m_directory / name / checkpoint);
  std::ofstream(m_directory / name / "latest") << checkpoint << '\n';
  return start(name, keys);
}

Run Experiment::start(std::string const& name, Keys const& keys) const {
  Run run;
  run.dir = m_directory / name;
  auto const outcome = run_command(
      fmt::format("{} train {}/in.yaml run.dir={} \"{}\"", spillway_command(m_ranks),
                  m_directory.string(), run.dir.string(), fmt::join(m_keys + keys, "\" \"")));
  run.status = outcome.status;
  run.output = outcome.output;
  EXPECT_EQ(run.status, 0) << run.dir << "\n" << run.output;
  if (run.status != 0) return run;
  run.rows = read_metrics(run.dir);
  run.summary = read_summary(run.dir);
  return run;
}

void expect_equal_steps(Run const& reference, Run const& run) {
  ASSERT_FALSE(run.rows.empty()) << run.dir;
  EXPECT_EQ(run.rows.back().at("step"), reference.rows.back().at("step"));
  for (auto const& row : run.rows) {
    auto const* expected = row_of(reference, row.at("step"));
    ASSERT_NE(expected, nullptr);
    for (auto const* key : {"loss_hex", "grad_norm_hex", "valid_loss_hex", "lr", "tokens"}) {
      EXPECT_EQ(row.value(key, nlohmann::json()), expected->value(key, nlohmann::json()))
          << run.dir << ": " << key << " of step " << row.at("step");
    }
  }
}

void expect_samples_once(Run const& run, int first, int last, int sequences) {
  std::map<int, std::multiset<int>> samples;  // by step, over all ranks
  for (int rank = 0; rank < 9; ++rank) {
    std::ifstream file(run.dir / fmt::format("samples-{}.txt", rank));
    for (int step, sample, window, epoch; file >> step >> sample >> window >> epoch;)
      samples[step].insert(sample);
  }
  EXPECT_EQ(std::ssize(samples), last - first + 1) << run.dir;
  for (auto const& [step, seen] : samples) {
    std::multiset<int> expected;
    for (int i = 0; i < sequences; ++i) expected.insert((step - 1) * sequences + i);
    EXPECT_EQ(seen, expected) << run.dir << ": step " << step;
  }
}

void expect_near(Run const& one, Run const& other, char const* key, double tolerance) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_NEAR(one.number(i, key), other.number(i, key), tolerance * one.number(i, key))
        << key << " of step " << i + 1;
  }
}

void expect_equal_tensors(std::filesystem::path const& one_dir,
                          std::filesystem::path const& other_dir) {
  CheckpointReader one(one_dir), other(other_dir);
  ASSERT_FALSE(one.tensors().empty());
  ASSERT_EQ(one.tensors().size(), other.tensors().size());
  for (auto const& info : one.tensors()) {
    auto const* there = other.find(info.group, info.name);
    ASSERT_NE(there, nullptr) << info.name;
    EXPECT_EQ(info, *there);
    EXPECT_TRUE(tensor(one, info) == tensor(other, *there))
        << other_dir << ": " << info.group << "/" << info.name;
  }
}

void expect_equal_state(std::filesystem::path const& reference, std::filesystem::path const& run) {
  auto const one = find_latest(reference), other = find_latest(run);
  ASSERT_TRUE(one && other);
  ASSERT_EQ(one->filename(), other->filename());
  expect_equal_tensors(*one, *other);
}

void expect_measured_as_planned(Run const& run) {
  for (auto const* tier : {"device", "host", "nvme"}) {
    EXPECT_EQ(run.peak_bytes("measured_peak_bytes", tier),
              run.peak_bytes("predicted_peak_bytes", tier))
        << run.dir << ": " << tier;
  }
}

}  // namespace spillway::test
