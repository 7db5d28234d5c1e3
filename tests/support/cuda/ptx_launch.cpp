#include "tests/support/cuda/ptx_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "tests/support/cuda/call.hpp"
#include "tests/support/cuda/executed.hpp"
#include "tests/support/cuda/fat_binary.hpp"
#include "tests/support/cuda/launched_op.hpp"

namespace spillway::test::cuda {
namespace {

// Returns that of the device that this thread has chosen.
int architecture() {
  return state().settings.architecture(thread_state().device);
}

// What the piece of a launch holds until it runs.
struct Waiting {
  ptx::Code const* code;
  ptx::Memory const* variables;
  KernelLaunch launch;
  std::vector<std::byte> parameters;
  std::optional<std::vector<LaunchedOp::Part>> parts;  // if the launch is an op's
  std::vector<AddressRange> gaps;
  int device;
  std::uint64_t seed;
};

void add_bytes(ptx::Memory& memory, State const& all, AddressRange const& range,
               std::string const& name, bool may_write = true) {
  auto const bytes = reachable_bytes(all, range);
  if (bytes.at == nullptr) return;
  if (bytes.states != nullptr && !is_device(all, range))
    see_changes(bytes.at, bytes.size, bytes.states);
  memory.add({.address = range.first,
              .bytes = static_cast<std::size_t>(range.bytes),
              .host = bytes.at,
              .states = bytes.states,
              .may_write = may_write,
              .name = name});
}

// Of an allocation that has operands, an op may touch no other bytes.
void add_allocations(ptx::Memory& memory, State const& all, Waiting const& waiting) {
  for (auto const& [first, allocation] : all.allocations.all()) {
    AddressRange const range{first, allocation.bytes};
    if (allocation.kind == Allocation::Kind::device && allocation.device != waiting.device)
      continue;
    bool const has_operands =
        waiting.parts && std::ranges::any_of(*waiting.parts, [&](LaunchedOp::Part const& part) {
          return part.range.overlaps(range);
        });
    if (!has_operands) add_bytes(memory, all, range, "memory of cudaMalloc or its like");
  }
}

void add_all_memory(ptx::Memory& memory, State const& all, int device) {
  auto const is_new = [&](AddressRange const& range) {
    return all.allocations.find(range.first) == nullptr;
  };
  for (auto const& stretch : all.memory.stretches(device))
    if (is_new(stretch.range)) add_bytes(memory, all, stretch.range, "device memory");
  for (auto const& range : all.pinned.ranges())
    if (is_new(range)) add_bytes(memory, all, range, "registered memory");
}

ptx::Memory memory_of(State const& all, Waiting const& waiting) {
  auto result = *waiting.variables;
  add_allocations(result, all, waiting);
  if (!waiting.parts) {
    add_all_memory(result, all, waiting.device);
    return result;
  }
  for (auto const& gap : waiting.gaps) set_states(reachable_bytes(all, gap), ptx::kKnown);
  for (auto const& part : *waiting.parts) {
    add_bytes(result, all, part.range, fmt::format("operand {}", part.operand), part.writes);
  }
  return result;
}

// Runs a launch whose turn has come. What it does wrong is an error of the device, after which no
// more kernels run.
void run(State& all, Waiting const& waiting, std::string const& label) {
  if (all.faults.sticky()) return;
  try {
    auto const counts = ptx::launch(*waiting.code, memory_of(all, waiting),
                                    {.grid = waiting.launch.grid,
                                     .block = waiting.launch.block,
                                     .dynamic_shared_bytes = waiting.launch.dynamic_shared_bytes,
                                     .parameters = waiting.parameters,
                                     .seed = waiting.seed});
    count_executed(*waiting.code, counts);
    all.turns += counts.turns;
  } catch (std::exception const& error) {
    complain(label + ": " + error.what());
    all.faults.fail(cudaErrorLaunchFailure);
  }
}

std::vector<std::byte> parameters_of(ptx::Kernel const& kernel, void* const* arguments) {
  std::vector<std::byte> result(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto const& parameter = kernel.parameters[i];
    std::memcpy(result.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return result;
}

cudaError_t check(DeviceFunction const& function, ptx::Code const& code,
                  KernelLaunch const& launch) {
  auto const& [grid, block, shared] = launch;
  auto const bad = [&](cudaError_t error, std::string const& why) {
    return refuse(error, fmt::format("kernel {}: {}", function.name, why));
  };
  if (grid.count() == 0 || grid.x >= 1u << 31 || grid.y >= 1u << 16 || grid.z >= 1u << 16)
    return bad(cudaErrorInvalidConfiguration,
               fmt::format("a grid of {} x {} x {} blocks", grid.x, grid.y, grid.z));
  if (block.count() == 0 || block.count() > 1024 || block.z > 64)
    return bad(cudaErrorInvalidConfiguration,
               fmt::format("a block of {} x {} x {} threads", block.x, block.y, block.z));
  if (block.count() > code.kernel->most_threads)
    return bad(cudaErrorLaunchOutOfResources,
               fmt::format("a block of {} threads, and it is compiled for {}", block.count(),
                           code.kernel->most_threads));
  if (shared > most_dynamic_shared_bytes(function, code))
    return bad(cudaErrorInvalidValue,
               fmt::format("{} bytes of dynamic shared memory, and {} are allowed", shared,
                           most_dynamic_shared_bytes(function, code)));
  return cudaSuccess;
}

}  // namespace

LoadedCode* loaded_code(FatBinary& binary, std::string const& what) {
  try {
    return &binary.loaded(thread_state().device, architecture());
  } catch (std::exception const& error) {
    complain(fmt::format("{}: {}", what, error.what()));
    return nullptr;
  }
}

ptx::Code const* code_of(DeviceFunction& function) {
  auto* const loaded = loaded_code(*function.binary, "kernel " + function.name);
  if (loaded == nullptr) return nullptr;
  try {
    return &loaded->kernel(function.name);
  } catch (std::exception const& error) {
    complain(fmt::format("kernel {}: {}", function.name, error.what()));
    return nullptr;
  }
}

bool has_code(DeviceFunction const& function) {
  try {
    return has_code(function.binary->wrapper, architecture());
  } catch (std::exception const&) {
    return true;  // code_of() says what is wrong with it
  }
}

std::size_t most_dynamic_shared_bytes(DeviceFunction const& function, ptx::Code const& code) {
  auto const set = function.most_dynamic_shared_bytes.find(thread_state().device);
  if (set != function.most_dynamic_shared_bytes.end()) return set->second;
  return kSharedBytes - std::min(kSharedBytes, static_shared_bytes(code));
}

cudaError_t launch_ptx(State& all, int stream, DeviceFunction& function, KernelLaunch const& launch,
                       void* const* arguments, bool stuck) {
  auto const device = thread_state().device;
  if (!has_code(function))
    return refuse(
        cudaErrorNoKernelImageForDevice,
        fmt::format("kernel {}: is not made for an sm_{}", function.name, architecture()));
  auto const* const code = code_of(function);
  if (code == nullptr) return cudaErrorInvalidPtx;
  if (auto const error = check(function, *code, launch); error != cudaSuccess) return error;
  auto const* const op = launched_op();
  auto const waiting = std::make_shared<Waiting>(
      Waiting{.code = code,
              .variables = &function.binary->loaded(device, architecture()).variables(),
              .launch = launch,
              .parameters = parameters_of(*code->kernel, arguments),
              .parts = {},
              .gaps = {},
              .device = device,
              .seed = all.settings.seed + 0x9e3779b97f4a7c15 * ++all.launches});
  Piece piece{.kind = Piece::Kind::kernel, .label = function.name};
  if (op != nullptr) {
    piece.label = op->name;
    piece.accesses = op->accesses;
    waiting->parts = op->parts;
    waiting->gaps = op->gaps;
  }
  auto const label = *doing() != '\0' ? std::string(doing()) : piece.label;
  piece.run = [waiting, label, &all] { run(all, *waiting, label); };
  piece.knows_bytes = true;
  piece.stuck = stuck;
  enqueue(all, stream, std::move(piece));
  return cudaSuccess;
}

}  // namespace spillway::test::cuda
