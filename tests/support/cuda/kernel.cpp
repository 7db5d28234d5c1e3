#include "tests/support/cuda/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kernels/host/kernels.hpp"
#include "kernels/host/team/team.hpp"
#include "tests/support/cuda/call.hpp"
#include "tests/support/cuda/operands.hpp"

namespace spillway::test::cuda {
namespace {

struct Expected {
  bool given = false;
  std::vector<AddressRange> ranges;
};
thread_local Expected t_expected;

// Holds what all launches of one bound op share.
struct Bound {
  std::string name;
  std::vector<Operand> operands;
  std::size_t views;
  Launch launch;
};

// Names a stream of the stand-in, and the host's Exec that computes what is launched on it.
class StandInExec final : public Exec {
 public:
  explicit StandInExec(void* stream) : m_stream(stream) {}

  void* stream() const { return m_stream; }
  std::shared_ptr<Exec const> const& host() const { return m_host; }
  int concurrency() const override { return m_host->concurrency(); }

 private:
  void* m_stream;
  std::shared_ptr<Exec const> m_host = spillway::host::make_exec(nullptr);
};

// Describes the operands of one launch: `ranges` has the addresses that callers of CUDA know,
// `touchable` those at which the stand-in can touch them.
struct Placed {
  std::vector<AddressRange> ranges;
  std::vector<void*> touchable;
};

// Returns the bytes of operand `i` that are in memory, which may be only a part of its view. Throws
// std::runtime_error if the operand is not where `expected` says.
AddressRange bytes_there(Operand const& operand, void const* at, Expected const& expected,
                         std::size_t i) {
  auto const view = range_of(at, operand.bytes);
  if (!expected.given) return view;
  auto const& held = expected.ranges[i];
  if (!held.holds(view) && !view.holds(held))
    throw std::runtime_error("is not where its item says");
  return held;
}

Placed place(State const& all, Bound const& bound, void* const* operands,
             Expected const& expected) {
  Placed result;
  if (expected.given && expected.ranges.size() != bound.operands.size())
    throw std::runtime_error("has another number of operands than its item says");
  for (std::size_t i = 0; i < bound.operands.size(); ++i) {
    auto const& operand = bound.operands[i];
    if (operands[i] == nullptr || !operand.present) {
      if (operand.present && operand.bytes > 0)
        throw std::runtime_error(fmt::format("has no operand {}", operand.name));
      result.ranges.emplace_back();
      result.touchable.push_back(nullptr);
      continue;
    }
    auto const there = bytes_there(operand, operands[i], expected, i);
    auto const* const at = reachable(all, there);
    if (at == nullptr)
      throw std::runtime_error(fmt::format("cannot reach all bytes of operand {}", operand.name));
    auto const shift = reinterpret_cast<std::uintptr_t>(operands[i]) - there.first;
    result.ranges.push_back(common(there, range_of(operands[i], operand.bytes)));
    result.touchable.push_back(
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) + shift));
  }
  // If the op has no workspace, kernels get null for it.
  if (bound.operands.size() == bound.views) result.touchable.push_back(nullptr);
  return result;
}

// Returns whether the launch reads any of these bytes. If it reads bytes of an output, the output
// is not made NaN before the kernel runs.
bool is_read(Bound const& bound, Placed const& placed, AddressRange const& range) {
  for (std::size_t i = 0; i < bound.operands.size(); ++i) {
    if (bound.operands[i].reads && placed.ranges[i].overlaps(range)) return true;
  }
  return false;
}

void add_fresh(Piece& piece, Bound const& bound, Placed const& placed, std::size_t i) {
  auto const& range = placed.ranges[i];
  if (!bound.operands[i].fresh || range.bytes == 0 || is_read(bound, placed, range)) return;
  auto* const touchable = static_cast<std::byte*>(placed.touchable[i]);
  auto const first = range.first - bound.operands[i].pieces.front().first;
  for (auto const& part : bound.operands[i].pieces) {
    auto const held = common({first + part.first, part.bytes}, range);
    if (held.bytes > 0) piece.fresh.push_back({touchable + (held.first - first), held.bytes});
  }
}

Piece piece_of(std::shared_ptr<Bound const> bound, Placed placed, StandInExec const& exec) {
  Piece piece{.kind = Piece::Kind::kernel, .label = bound->name};
  for (std::size_t i = 0; i < bound->operands.size(); ++i) {
    auto const& operand = bound->operands[i];
    if (placed.ranges[i].bytes == 0) continue;
    if (operand.reads) piece.accesses.push_back({placed.ranges[i], false});
    if (operand.writes) piece.accesses.push_back({placed.ranges[i], true});
    add_fresh(piece, *bound, placed, i);
  }
  piece.run = [bound = std::move(bound), there = std::move(placed.touchable), host = exec.host()] {
    // A new thread has OpenMP's default number of threads, on which sums may depend.
    Team const team(host->concurrency());
    bound->launch(*host, there.data());
  };
  return piece;
}

cudaError_t launch(State& all, std::shared_ptr<Bound const> const& bound, StandInExec const& exec,
                   void* const* operands, bool stuck) {
  auto const expected = std::exchange(t_expected, {});
  auto const* const stream = all.queues.stream(number(exec.stream()));
  if (stream == nullptr)
    return refuse(cudaErrorInvalidResourceHandle, bound->name + " is launched on no stream");
  if (stream->device != thread_state().device)
    return refuse(cudaErrorInvalidResourceHandle, bound->name + " is launched on another device");
  try {
    auto piece = piece_of(bound, place(all, *bound, operands, expected), exec);
    piece.stuck = stuck;
    enqueue(all, number(exec.stream()), std::move(piece));
    return cudaSuccess;
  } catch (std::runtime_error const& error) {
    return refuse(cudaErrorIllegalAddress, bound->name + ": the launch " + error.what());
  }
}

template <OpKind kind>
Launch bind(KernelContext const& context, Op const& op) {
  auto const bound = std::make_shared<Bound const>(
      Bound{op.name, cuda::operands(context, op), op.inputs.size() + op.outputs.size(),
            spillway::host::kernel(kind).bind(context, op)});
  return [bound](Exec const& exec, void* const* operands) {
    call_that_enqueues("launch", [&](State& all, bool stuck) {
      return launch(all, bound, dynamic_cast<StandInExec const&>(exec), operands, stuck);
    });
  };
}

}  // namespace

Kernel cuda_stand_in_kernel(OpKind kind) {
  Kernel result = spillway::host::kernel(kind);
  switch (kind) {
#define SPILLWAY_OP(name, rule, operands) \
  case OpKind::name:                      \
    result.bind = bind<OpKind::name>;     \
    break;
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  }
  return result;
}

std::unique_ptr<Exec const> cuda_stand_in_exec(void* stream) {
  return std::make_unique<StandInExec>(stream);
}

void expect_ranges(std::span<AddressRange const> ranges) {
  AllocatorPass const pass;
  t_expected = {true, {ranges.begin(), ranges.end()}};
}

void expect_any_ranges() {
  AllocatorPass const pass;
  t_expected = {};
}

bool is_expected(AddressRange const& range) {
  return !t_expected.given ||
         std::ranges::any_of(t_expected.ranges, [&](auto const& r) { return r.holds(range); });
}

}  // namespace spillway::test::cuda
