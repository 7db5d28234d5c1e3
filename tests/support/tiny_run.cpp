#include "tests/support/tiny_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checksum.hpp"
#include "kernels/exec.hpp"
#include "plan/passes.hpp"
#include "runtime/engine.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "train/model_state.hpp"

namespace spillway::test {

namespace {

constexpr std::uint64_t kSeed = 5;
constexpr double kClip = 0.25;  // below every norm of these runs

// A repeating text, of which every rank and micro-batch has its own part.
class PatternBatches final : public BatchSource {
 public:
  PatternBatches(Arithmetic const& arithmetic, std::int64_t first)
      : m_micro(arithmetic.micro), m_sequence(arithmetic.sequence), m_first(first) {}

  void load(std::int64_t, std::int64_t micro_batch, BatchPointers const& to) override {
    for (std::int64_t sample = 0; sample < m_micro; ++sample) {
      auto const number = m_first + micro_batch * m_micro + sample;
      for (std::int64_t i = 0; i < m_sequence; ++i) {
        auto const row = sample * m_sequence + i;
        to.tokens[row] = token(number + i);
        to.targets[row] = token(number + i + 1);
        to.weights[row] = 1;
      }
      to.samples[sample] = number;
    }
  }

 private:
  static std::int32_t token(std::int64_t i) { return static_cast<std::int32_t>(i * i % 19); }

  std::int64_t m_micro, m_sequence, m_first;
};

CommitDecision decide(CommitSums const& sums, bool clip) {
  CommitDecision decision;
  auto const count = static_cast<double>(sums.step + 1);
  decision.grad_norm = std::sqrt(sums.norm_squared) / sums.weight_sum;
  auto const factor = clip ? std::min(1.0, kClip / decision.grad_norm) : 1;
  decision.control[control_gradient_scale] = factor / sums.weight_sum;
  decision.control[control_learning_rate] = 3e-3;
  decision.control[control_bias1] = 1 - std::pow(0.9, count);
  decision.control[control_bias2] = 1 - std::pow(0.95, count);
  return decision;
}

void add_state(ModelState& model, Story& story) {
  for (auto const part : {StatePart::master, StatePart::moment1, StatePart::moment2}) {
    StreamingChecksum checksum;
    for (Chunk const& chunk : model.chunks()) {
      for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
        auto const& shape = chunk.parameters[static_cast<std::size_t>(p)].view.shape;
        std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
        model.read(part, chunk.id, p, 0, values);
        checksum.add(std::as_bytes(std::span(values)));
      }
    }
    story.push_back(checksum.value());
  }
}

}  // namespace

Graph tiny_run_graph(Config const& config) {
  auto graph = tiny_training_graph(config);
  graph.arithmetic.threads = Exec().space().concurrency();
  size_workspaces(graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  return graph;
}

Story train(TinyRun const& run) {
  auto const program =
      compile(run.graph, nullptr, run.plan, run.micro_batches, run.comm.size()).train;
  auto const& peak = program.peak_bytes;
  auto const make = [&] {
    return run.spill ? run.spill(peak[2]) : SpillFile(::testing::TempDir(), peak[2], {});
  };
  SpillFile spill = make();
  Tiers tiers{Arena("device", peak[0]), Arena("host", peak[1]), &spill, {}};
  ModelState model(program, tiers);
  model.initialise(kSeed);
  auto const per_rank = run.micro_batches * run.graph.arithmetic.micro;
  PatternBatches batches(run.graph.arithmetic, run.comm.rank() * per_rank);
  auto const policy = [clip = run.clip](CommitSums const& sums) { return decide(sums, clip); };
  Exec const exec;
  Engine engine({program, tiers, exec, kernel, run.comm, batches, policy, nullptr},
                {.poison = true, .locked_allocator = true});
  Story story;
  double first = 0, last = 0;
  for (int step = 0; step < run.steps; ++step) {
    auto const result = engine.run_step(step);
    EXPECT_EQ(result.word, CommitWord::go);
    last = result.loss_sum / result.weight_sum;
    if (step == 0) first = last;
    story.push_back(std::bit_cast<std::uint64_t>(result.loss_sum));
    story.push_back(std::bit_cast<std::uint64_t>(result.grad_norm));
  }
  EXPECT_LT(last, first);
  engine.finish();
  add_state(model, story);
  for (std::size_t tier = 0; tier < kTiers; ++tier)
    EXPECT_EQ(tiers.in_use[tier].value(), peak[tier]) << "tier " << tier;
  return story;
}

}  // namespace spillway::test
