// A step in miniature, which tests of commits run.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/spill/spill_file.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "tests/support/engine_fakes.hpp"

namespace spillway::test {

inline constexpr std::int64_t kMiniatureCellBytes = 64;

// A step in miniature: a batch is loaded, its loss computed, spilled and reloaded, its norm taken,
// and a weight updated under the control words.
class Miniature {
 public:
  Miniature() {
    auto const tokens = add_tensor(DType::i32, 16), weight = add_tensor(DType::f64, 8, true);
    auto const loss = add_tensor(DType::f64, 2), back = add_tensor(DType::f64, 8);
    auto const norms = add_tensor(DType::f64, 1), control = add_tensor(DType::f64, kControlWords);
    auto const away = add_buffer(back, Tier::nvme);
    program.known.batch = {{BatchField::tokens, 0, tokens}};
    program.known.loss = loss;
    program.known.norms = norms;
    program.known.control = control;
    add_item(Lane::data, ItemKind::load_batch, {}, {tokens});
    add_op({tokens, weight}, {loss, back});
    add_item(Lane::nvme_write, ItemKind::copy, {back}, {away});
    auto const reloaded = add_buffer(back, Tier::device);
    add_item(Lane::nvme_read, ItemKind::copy, {away}, {reloaded});
    add_op({reloaded}, {norms});
    program.segments.push_back({"last", 0, next(), 1});
    add_item(Lane::comm, ItemKind::commit, {loss, norms}, {control});
    add_op({control, weight}, {weight});
    program.segments.push_back({"update", program.segments[0].last, next()});
    link(program);
    Program* programs[] = {&program};
    layout(programs);
    derive_waits(program);
  }

  Program program;

 private:
  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }

  // A tensor and its buffer; both have the same number.
  int add_tensor(DType dtype, std::int64_t elements, bool persistent = false) {
    Tensor tensor;
    tensor.id = static_cast<TensorId>(program.tensors.size());
    tensor.dtype = dtype;
    tensor.shape = {elements};
    tensor.persistent = persistent;
    program.tensors.push_back(tensor);
    return add_buffer(tensor.id, Tier::device);
  }

  int add_buffer(TensorId id, Tier tier) {
    auto const& tensor = program.tensors[static_cast<std::size_t>(id)];
    Buffer buffer;
    buffer.id = static_cast<BufferId>(program.buffers.size());
    buffer.tensor = id;
    buffer.tier = tier;
    buffer.bytes = tensor.bytes();
    buffer.persistent = tensor.persistent;
    buffer.spanning = !tensor.persistent && tensor.bytes() < kMiniatureCellBytes;
    program.buffers.push_back(buffer);
    return buffer.id;
  }

  Buffer const& buffer(BufferId id) const { return program.buffers[static_cast<std::size_t>(id)]; }

  Item& add_item(Lane lane, ItemKind kind, std::vector<BufferId> const& reads,
                 std::vector<BufferId> const& writes) {
    Item item;
    item.number = item.horizon = next();
    item.lane = lane;
    item.kind = kind;
    item.micro_batch = program.segments.empty() ? 0 : -1;
    for (auto const id : reads) {
      item.operands.push_back(id);
      item.reads.push_back({id, 0, buffer(id).bytes, {}});
    }
    for (auto const id : writes) {
      item.operands.push_back(id);
      item.writes.push_back({id, 0, buffer(id).bytes, {}});
    }
    program.items.push_back(item);
    return program.items.back();
  }

  void add_op(std::vector<BufferId> const& reads, std::vector<BufferId> const& writes) {
    auto& item = add_item(Lane::compute, ItemKind::op, reads, writes);
    Op op;
    op.id = item.op = static_cast<int>(program.ops.size());
    auto const view = [&](BufferId id) {
      return whole(program.tensors[static_cast<std::size_t>(buffer(id).tensor)]);
    };
    for (auto const id : reads) op.inputs.push_back(view(id));
    for (auto const id : writes) op.outputs.push_back(view(id));
    program.ops.push_back(op);
  }
};

enum { op_loss, op_norm, op_update };
inline double g_norm = 4;  // what op_norm reports

// loss: (sum of tokens, 16); weight += learning rate when control says go.
inline Launch bind_miniature(KernelContext const&, Op const& op) {
  return [id = op.id](Exec const&, void* const* p) {
    auto const* const in = static_cast<double const*>(p[0]);
    if (id == op_loss) {
      auto* const loss = static_cast<double*>(p[2]);
      loss[0] = 0;
      for (int i = 0; i < 16; ++i) loss[0] += static_cast<std::int32_t const*>(p[0])[i];
      loss[1] = 16;
      std::fill_n(static_cast<double*>(p[3]), 8, loss[0]);
    } else if (id == op_norm) {
      *static_cast<double*>(p[1]) = g_norm;
    } else if (in[control_go] == 1) {
      *static_cast<double*>(p[2]) += in[control_learning_rate];
    }
  };
}

inline Kernel miniature_kernel(OpKind) {
  return {bind_miniature, bind_miniature};
}

class StepNumbers final : public BatchSource {
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override {
    EXPECT_TRUE(to.get<BatchField::targets>().empty());
    EXPECT_TRUE(to.get<BatchField::tokens>(1).empty());
    auto const tokens = to.get<BatchField::tokens>();
    ASSERT_EQ(tokens.size(), 16u);
    std::ranges::fill(tokens, static_cast<std::int32_t>(10 * step + micro_batch));
  }
};

inline CommitDecision decide(CommitSums const& sums) {
  CommitDecision decision;
  if (!std::isfinite(sums.loss_sum + sums.norm_squared)) decision.word = CommitWord::non_finite;
  decision.grad_norm = std::sqrt(sums.norm_squared) / sums.weight_sum;
  decision.learning_rate = decision.control[control_learning_rate] = 0.5;
  return decision;
}

inline bool g_stop = false;
inline RankNote note() {
  return {.stop = g_stop};
}

class MiniatureRun : public ::testing::Test {
 protected:
  explicit MiniatureRun(std::unique_ptr<FaultInjector> faults = nullptr)
      : m_faults(std::move(faults)) {}
  void SetUp() override {
    g_norm = 4;
    g_stop = false;
  }

  EngineParts parts() {
    return {m_small.program, m_tiers, KernelTable(miniature_kernel), *m_comm, m_batches,
            decide,          note};
  }
  double weight(Engine& engine) const {
    double value = 0;
    engine.finish();
    std::memcpy(&value, engine.bytes(1).data(), sizeof value);
    return value;
  }

  Miniature m_small;
  std::unique_ptr<FaultInjector> m_faults;
  SpillFile m_spill{
      ::testing::TempDir(), m_small.program.peak_bytes[2], {.faults = m_faults.get()}};
  Tiers m_tiers = make_tiers(m_small.program, &m_spill);
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  StepNumbers m_batches;
};

}  // namespace spillway::test
