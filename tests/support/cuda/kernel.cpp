#include "tests/support/cuda/kernel.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/host/kernels.hpp"
#include "kernels/host/team/team.hpp"
#include "tests/support/cuda/bound_op.hpp"
#include "tests/support/cuda/call.hpp"

namespace spillway::test::cuda {
namespace {

using SharedBoundOp = std::shared_ptr<BoundOp const>;

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

cudaError_t refuse_launch(BoundOp const& bound, std::runtime_error const& error) {
  return refuse(cudaErrorIllegalAddress, bound.name + ": the launch " + error.what());
}

Piece piece_of(SharedBoundOp const& bound, PlacedOp placed, StandInExec const& exec) {
  Piece piece{.kind = Piece::Kind::kernel,
              .label = bound->name,
              .fresh = std::move(placed.op.fresh),
              .accesses = std::move(placed.op.accesses)};
  piece.run = [bound, there = std::move(placed.touchable), host = exec.host()] {
    // A new thread has OpenMP's default number of threads, on which sums may depend.
    Team const team(host->concurrency());
    bound->launch(*host, there.data());
  };
  return piece;
}

cudaError_t launch(State& all, SharedBoundOp const& bound, StandInExec const& exec,
                   void* const* operands, bool stuck) {
  auto const* const stream = all.queues.stream(number(exec.stream()));
  if (stream == nullptr)
    return refuse(cudaErrorInvalidResourceHandle, bound->name + " is launched on no stream");
  if (stream->device != thread_state().device)
    return refuse(cudaErrorInvalidResourceHandle, bound->name + " is launched on another device");
  try {
    auto piece = piece_of(bound, place(all, *bound, operands), exec);
    piece.stuck = stuck;
    enqueue(all, number(exec.stream()), std::move(piece));
    return cudaSuccess;
  } catch (std::runtime_error const& error) {
    return refuse_launch(*bound, error);
  }
}

Launch bind_on_host(KernelContext const& context, Op const& op) {
  auto const bound = std::make_shared<BoundOp const>(
      bound_op(context, op, spillway::host::kernel(op.kind).bind(context, op)));
  return [bound](Exec const& exec, void* const* operands) {
    call_that_enqueues("launch", [&](State& all, bool stuck) {
      return launch(all, bound, dynamic_cast<StandInExec const&>(exec), operands, stuck);
    });
  };
}

std::optional<KernelTable> g_own;  // is what cuda_checked_kernels() was given

// Returns where the operands of a launch are. A launch that is refused is an error of the thread.
std::optional<LaunchedOp> begin_launch(BoundOp const& bound, void* const* operands) {
  std::optional<LaunchedOp> result;
  call_that_enqueues("launch", [&](State& all, bool stuck) {
    try {
      result = place(all, bound, operands).op;
      result->stuck = stuck;
      return cudaSuccess;
    } catch (std::runtime_error const& error) {
      return refuse_launch(bound, error);
    }
  });
  return result;
}

Launch bind_checked(KernelContext const& context, Op const& op) {
  auto const bound =
      std::make_shared<BoundOp const>(bound_op(context, op, g_own->of(op.kind).bind(context, op)));
  return [bound](Exec const& exec, void* const* operands) {
    auto op = begin_launch(*bound, operands);
    if (!op) return;
    Launching const launching(*op);
    bound->launch(exec, operands);
  };
}

Kernel checked_kernel(OpKind kind) {
  auto result = g_own->of(kind);
  if (result.bind != nullptr) result.bind = bind_checked;
  return result;
}

}  // namespace

Kernel cuda_stand_in_kernel(OpKind kind) {
  auto result = spillway::host::kernel(kind);
  result.bind = bind_on_host;
  return result;
}

std::unique_ptr<Exec const> cuda_stand_in_exec(void* stream) {
  return std::make_unique<StandInExec>(stream);
}

KernelTable cuda_checked_kernels(KernelTable const& own) {
  g_own = own;
  return {checked_kernel, own.exec, own.choose_products};
}

}  // namespace spillway::test::cuda
