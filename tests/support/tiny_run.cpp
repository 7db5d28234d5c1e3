#include "tests/support/tiny_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "kernels/exec.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/workspaces.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "runtime/engine.hpp"
#include "state/checkpoint_tensors.hpp"
#include "state/model_state.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/pattern_batches.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "train/storage_failure_policy.hpp"

namespace spillway::test {

namespace {

constexpr std::uint64_t kSeed = 5;
constexpr double kClip = 0.25;  // less than any gradient norm of these runs

CommitDecision decide(CommitSums const& sums, bool clip) {
  CommitDecision decision;
  auto const count = static_cast<double>(sums.step + 1);
  decision.grad_norm = std::sqrt(sums.norm_squared) / sums.weight_sum;
  auto const factor = clip ? std::min(1.0, kClip / decision.grad_norm) : 1;
  decision.control[control_gradient_scale] = factor / sums.weight_sum;
  decision.control[control_learning_rate] = 3e-3;
  decision.control[control_bias1] = 1 - std::pow(0.9, count);
  decision.control[control_bias2] = 1 - std::pow(0.95, count);
  decision.control[control_update] = count;
  decision.control[control_new2] = std::pow(count, -0.8);
  return decision;
}

// Fills in what other ranks have of a parameter's part, whose elements have so many bytes.
void gather(std::span<std::byte> values, std::string_view part, std::int64_t size,
            ModelState const& model, int chunk, int parameter, Comm& comm) {
  auto const sharing = model.sharing(chunk);
  std::vector<ByteSlice> slices;
  for (int rank = 0; rank < comm.size(); ++rank) {
    auto const slice = model.in_slice(chunk, parameter, sharing.summed_number(rank));
    auto const [first, last] = model.of_part(part, chunk, parameter, slice);
    slices.push_back({first * size, (last - first) * size});
  }
  comm.all_gather(values, slices);
}

// Returns a parameter's part as numbers in fp32 or, if it has none, as it is stored.
std::vector<std::byte> values_of(std::string_view part, ModelState& model, Chunk const& chunk,
                                 int p, Comm& comm) {
  bool const is_codes = part != kMaster && model.stored_type(part, chunk.id) == DType::u8;
  auto const elements = element_count(model.shape_of(part, chunk.id, p));
  auto const size = is_codes ? 1 : size_bytes(DType::f32);
  std::vector<std::byte> values(static_cast<std::size_t>(elements * size));
  auto const [begin, end] = model.of_part(part, chunk.id, p, model.owned(chunk.id, p));
  auto const all = element_count(chunk.parameters[static_cast<std::size_t>(p)].shape());
  if (!is_codes && elements == all) {
    model.read(
        part, chunk.id, p, begin,
        {reinterpret_cast<float*>(values.data()) + begin, static_cast<std::size_t>(end - begin)});
  } else {
    for (auto first = begin; first < end;) {
      auto const bytes = model.stored(part, chunk.id, p, first, end - first, false);
      std::ranges::copy(bytes, values.begin() + first * size);
      first += std::ssize(bytes) / size;
    }
  }
  if (chunk.is_shared_out()) gather(values, part, size, model, chunk.id, p, comm);
  return values;
}

Story state_of(ModelState& model, Comm& comm) {
  Story story;
  std::vector<std::string_view> parts = {kMaster};
  for (auto const& group : stored_groups(model))
    if (group.part != kParameter && group.part != kRemainder) parts.push_back(group.part);
  for (auto const part : parts) {
    StreamingChecksum checksum;
    for (Chunk const& chunk : model.chunks()) {
      if (part != kMaster && !chunk.trainable) continue;
      for (int p = 0; p < std::ssize(chunk.parameters); ++p)
        checksum.add(values_of(part, model, chunk, p, comm));
    }
    story.push_back(checksum.value());
  }
  return story;
}

std::int64_t first_of(TinyRun const& run) {
  return run.first_micro_batch.value_or(run.comm.rank() * run.micro_batches);
}

SpillFile make_spill(TinyRun const& run, std::int64_t bytes) {
  if (!run.spill) return SpillFile(::testing::TempDir(), bytes, {});
  return run.spill(bytes);
}

// Runs steps and reacts to failures of storage as the Trainer does.
class Training {
 public:
  Training(TinyRun const& run, Program const& program)
      : m_run(run),
        m_program(program),
        m_device(run.plan.unified),
        m_tiers(m_device.device(), program.peak_bytes, &m_spill),
        m_spill(make_spill(run, program.peak_bytes[2])),
        m_model(program, m_tiers, run.comm.rank()),
        m_batches(run.graph, first_of(run) * run.graph.arithmetic.micro),
        m_engine({program, m_tiers, m_device.kernels(), run.comm, m_batches,
                  [clip = run.clip](CommitSums const& sums) { return decide(sums, clip); }, nullptr,
                  run.host_threads, run.make_watch ? run.make_watch : m_device.make_watch()},
                 {.poison = run.poison, .locked_allocator = true}),
        m_storage_failures(&m_spill, run.comm) {
    if (run.registers) m_spill.register_memory(drive_memory(m_tiers, program));
  }

  TinyEnding run() {
    TinyEnding ending;
    try {
      if (m_run.used_before) use_memory();
      m_model.initialise(kSeed);
      bool done = run_steps(ending);
      if (!m_storage_failures.state_lost() && m_storage_failures.settle(m_engine)) done = false;
      if (!done) ending.error = m_spill.first_failure();
      if (!m_storage_failures.state_lost()) ending.state = state_of(m_model, m_run.comm);
      if (done && m_run.steps > 0) expect_peaks();
      m_device.expect_sound();
    } catch (Error const& error) {
      if (error.status() != Status::storage) throw;
      ending.error = error.what();
    }
    return ending;
  }

 private:
  // Fills the device's persistent buffers with small numbers, as if something had used the memory
  // before. ModelState::initialise() overwrites parameters, but moments start with these numbers.
  void use_memory() {
    constexpr auto left_there = std::byte{0x3c};
    for (auto const& buffer : m_program.buffers) {
      if (!buffer.persistent || buffer.tier != Tier::device) continue;
      m_tiers.device.fill(on_device(m_tiers.device, memory_bytes(m_tiers, buffer, 0)), left_there);
    }
  }

  bool run_steps(TinyEnding& ending) {
    for (int step = 0; step < m_run.steps;) {
      auto const result = m_engine.run_step(step);
      if (m_storage_failures.after(result.word, step + 1)) return false;
      if (result.word == CommitWord::storage_error) {
        ++ending.repeats;
        continue;
      }
      EXPECT_TRUE(std::isfinite(result.loss_sum) && std::isfinite(result.grad_norm));
      ending.steps.push_back(std::bit_cast<std::uint64_t>(result.loss_sum));
      ending.steps.push_back(std::bit_cast<std::uint64_t>(result.grad_norm));
      ++step;
      if (!m_run.after_step) continue;
      m_engine.finish();
      m_run.after_step(m_engine);
    }
    return true;
  }

  void expect_peaks() const {
    for (std::size_t tier = 0; tier < kTiers; ++tier)
      EXPECT_EQ(m_tiers.in_use[tier].value(), m_program.peak_bytes[tier]) << "tier " << tier;
  }

  TinyRun const& m_run;
  Program const& m_program;
  DeviceUnderTest m_device;
  Tiers m_tiers;
  SpillFile m_spill;  // declared after the arenas: its transfers must end before their memory
  ModelState m_model;
  PatternBatches m_batches;
  Engine m_engine;
  StorageFailurePolicy m_storage_failures;
};

}  // namespace

Graph runnable(Graph graph) {
  graph.arithmetic.threads = host::make_exec(nullptr)->concurrency();
  set_kernels_of_device(graph);
  size_workspaces(graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  return graph;
}

Graph tiny_run_graph(Config const& config, std::int64_t ranks) {
  return runnable(tiny_training_graph(config, ranks));
}

Program tiny_program(TinyRun const& run) {
  return compile(run.graph, nullptr, run.plan, run.micro_batches, run.comm.size()).train;
}

TinyEnding train(TinyRun const& run, Program const& program) {
  return Training(run, program).run();
}

Story train(TinyRun const& run) {
  auto ending = train(run, tiny_program(run));
  EXPECT_EQ(ending.error, "");
  EXPECT_EQ(std::ssize(ending.steps), 2 * run.steps);
  auto const loss = [&](std::size_t step) { return std::bit_cast<double>(ending.steps[2 * step]); };
  if (run.learns && !ending.steps.empty()) {
    EXPECT_LT(loss(ending.steps.size() / 2 - 1), loss(0));
  }
  std::ranges::copy(ending.state, std::back_inserter(ending.steps));
  return ending.steps;
}

}  // namespace spillway::test
