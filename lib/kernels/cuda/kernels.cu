#include "kernels/cuda/kernels.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/allocator_pass.hpp"
#include "base/error.hpp"
#include "device/cuda/noted.hpp"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/choose_products.hpp"
#include "kernels/cuda/lt_objects.hpp"
#include "kernels/cuda/stream.hpp"
#include "kernels/portable/kernels.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/portable/tool_region.hpp"

namespace spillway::cuda {

Kernel kernel_lm_head_loss();
Kernel kernel_lm_head_loss_backward();
Kernel kernel_matmul();
Kernel kernel_mlp();
Kernel kernel_mlp_backward();

namespace {

Kernel unchecked_kernel(OpKind kind) {
  using Maker = Kernel (*)();
  static constexpr std::array makers = {
#define SPILLWAY_OP(name, rule, operands) Maker{kernel_##name},
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  return makers[static_cast<std::size_t>(kind)]();
}

// Kokkos ends some of its texts with a new line.
std::string_view without_end(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// Calls f, which may allocate main memory, as CUDA does at will. If CUDA refuses a call, Kokkos
// throws std::runtime_error, which becomes an Error(device) that says what was being done.
template <class F>
auto naming_kokkos(std::string const& doing, F const& f) {
  AllocatorPass const pass;
  try {
    return f();
  } catch (Error const&) {
    throw;
  } catch (std::runtime_error const& error) {
    throw Error(Status::device, fmt::format("{}: {}", doing, without_end(error.what())));
  }
}

// Binds an op to a launch. Failures of both name the op.
Launch bind(KernelContext const& context, Op const& op) {
  auto const unnamed = [&] { return unchecked_kernel(op.kind).bind(context, op); };
  // Products are the work of another library alone.
  auto seen = in_region(op, op.kind == OpKind::matmul, naming_kokkos(op.name, unnamed));
  return [launch = std::move(seen), name = op.name](Exec const& exec, void* const* operands) {
    naming_kokkos(name, [&] {
      launch(exec, operands);
      expect_launched(name);
    });
  };
}

// begin_kernels() makes the handle, because making one allocates.
std::optional<LtHandle> g_lt_handle;

struct Nothing {
  KOKKOS_FUNCTION void operator()(TeamMember const&) const {}
};

// Kokkos keeps the scratch of a team's second level from one launch to the next, but only if it has
// at least one byte; it would otherwise ask CUDA for no bytes at every launch.
void make_scratch(Space const& space) {
  auto teams = Kokkos::TeamPolicy<Space>(space, 1, 1);
  teams.set_scratch_size(1, Kokkos::PerTeam(1));
  Kokkos::parallel_for("spillway::scratch", teams, Nothing{});
  space.fence("spillway::scratch");
}

// Lets Kokkos forget what it cannot give back, of which it would complain at the end of the
// process.
template <class Instance>
void forget_scratch(Instance& instance) {
  if constexpr (requires { instance.m_scratchUnified; })
    instance.m_scratchSpace = instance.m_scratchFlags = instance.m_scratchUnified = nullptr;
}

// Waits for all work of the device.
bool device_works() {
  return cudaDeviceSynchronize() == cudaSuccess;
}

// Where the device has failed, the instance is left to the end of the process: Kokkos would give
// its memory back, and end the process because it cannot.
class CudaExec final : public SpaceExec {
 public:
  using SpaceExec::SpaceExec;
  ~CudaExec() override {
    if (!device_works()) new Space(instance());
  }
};

std::unique_ptr<Exec const> exec_on(void* stream) {
  return naming_kokkos("making an instance of Kokkos on a stream", [&] {
    auto const space = stream ? Space(static_cast<cudaStream_t>(stream)) : Space();
    make_scratch(space);
    return std::make_unique<CudaExec>(space);
  });
}

}  // namespace

Kernel kernel(OpKind /*kind*/) {  // bind() goes by the op's kind
  return {bind, nullptr};
}

cudaStream_t stream_of(Exec const& exec) {
  return instance_of(exec).cuda_stream();
}

cublasLtHandle_t lt_handle_of(Exec const& exec) {
  instance_of(exec);
  return g_lt_handle->get();
}

void expect_launched(std::string const& op) {
  if (auto const result = noted_failure(); result != cudaSuccess)
    throw Error(Status::device, fmt::format("{}: {}", op, cudaGetErrorString(result)));
}

KernelTable begin_kernels() {
  try {
    naming_kokkos("beginning Kokkos", [] {
      int device = 0;
      cudaGetDevice(&device);
      Kokkos::initialize(
          Kokkos::InitializationSettings().set_device_id(device).set_disable_warnings(true));
    });
    g_lt_handle.emplace();
  } catch (...) {
    end_kernels();
    throw;
  }
  return {kernel, exec_on, choose_products};
}

void end_kernels() noexcept {
  g_lt_handle.reset();
  if (Kokkos::is_finalized()) return;
  if (Kokkos::is_initialized() && device_works())
    Kokkos::finalize();  // which would end the process otherwise
  else
    forget_scratch(Kokkos::Impl::CudaInternal::singleton());
}

}  // namespace spillway::cuda
