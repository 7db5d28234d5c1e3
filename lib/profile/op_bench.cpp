#include "profile/op_bench.hpp"

#include <algorithm>
#include <span>

#include "base/bf16.hpp"
#include "base/give_way.hpp"
#include "base/math.hpp"
#include "base/median.hpp"
#include "base/steady_clock.hpp"
#include "kernels/host_pool.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/reach.hpp"

namespace spillway {
namespace {

constexpr double kLong_s = 0.05, kEnough_s = 0.02;
constexpr std::size_t kMostRuns = 2;
constexpr std::int64_t kFlushBytes = std::int64_t{32} << 20;  // more than most caches hold
constexpr std::int64_t kPage = 4096;

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// Returns values from `make` for `elements` elements, but for 4099 elements at most. The caller
// repeats them to fill a longer tensor.
template <class T, class Make>
std::vector<std::byte> pattern(std::int64_t elements, Make const& make) {
  constexpr std::int64_t most = 4099;
  std::vector<T> values(static_cast<std::size_t>(std::min(elements, most)));
  for (auto& value : values) value = make();
  auto const bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// `numbers` is an operand whose values choose rows of a table, as token ids do. Returns how many
// rows the values may choose from, or 1 if the op has no table. The op's first input chooses from
// its first table. Any other operand stays within the table with the fewest rows.
std::int64_t table_rows(Program const& program, Op const& op, Tensor const& numbers) {
  std::vector<std::int64_t> rows;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : present(*views)) {
      auto const role = program.tensors[static_cast<std::size_t>(view.tensor)].role;
      bool const weights = role == Role::parameter || role == Role::gradient;
      if (weights && view.shape.size() == 2) rows.push_back(view.shape[0]);
    }
  }
  if (rows.empty()) return 1;
  return op.inputs.front().tensor == numbers.id ? rows.front() : std::ranges::min(rows);
}

// Returns the bytes of all tensors, which pass through the caches in a step.
std::size_t step_bytes(Program const& program) {
  std::int64_t bytes = 0;
  for (Tensor const& tensor : program.tensors) bytes += tensor.bytes();
  return static_cast<std::size_t>(bytes);
}

}  // namespace

OpBench::OpBench(Program const& program, Compute const& compute)
    : m_program(program),
      m_compute(compute),
      m_device{OperandMemory(&compute.device), OperandMemory::shared_with(compute.device),
               OperandMemory(&compute.device)},
      m_lane(compute) {
  if (is_cached(program)) return;
  m_host.flush.need(kFlushBytes);
  if (compute.device.has_own_memory()) m_device.flush.need(kFlushBytes);
}

bool OpBench::is_cached(Program const& program) {
  return step_bytes(program) <= static_cast<std::size_t>(kFlushBytes);
}

bool OpBench::has_main_memory_alone(On lane) const {
  return lane.is_host() || !m_compute.device.has_own_memory();
}

// Places the op's tensors one after the other, each of them once.
OpBench::Placed OpBench::placed(Op const& op, On lane) const {
  bool const unified = has_main_memory_alone(lane);
  Placed result;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : present(*views)) {
      auto const& tensor = m_program.tensors[static_cast<std::size_t>(view.tensor)];
      bool const is_exchanged = compute_tier(tensor, unified) == Tier::host;
      auto const part = is_exchanged ? &Memory::exchanged : &Memory::operands;
      auto& bytes = is_exchanged ? result.exchanged_bytes : result.bytes;
      if (result.tensors.try_emplace(view.tensor, Placed::Place{part, bytes}).second)
        bytes += round_up(tensor.bytes(), kPage);
    }
  }
  return result;
}

std::int64_t OpBench::operand_bytes(Op const& op) const {
  auto const all = placed(op, {});
  return all.bytes + all.exchanged_bytes + op.workspace_bytes;
}

OpBench::Memory& OpBench::memory(On lane) {
  return has_main_memory_alone(lane) ? m_host : m_device;
}

// Returns the address of each view of the op, then that of its workspace.
std::vector<void*> OpBench::place(Op const& op, On lane) {
  auto& memory = this->memory(lane);
  auto const all = placed(op, lane);
  memory.operands.need(all.bytes + op.workspace_bytes);
  memory.exchanged.need(all.exchanged_bytes);
  for (auto const& [id, place] : all.tensors)
    fill(op, m_program.tensors[static_cast<std::size_t>(id)], memory.*place.part, place.offset);
  std::vector<void*> operands;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : *views) {
      if (!is_present(view)) {
        operands.push_back(nullptr);
        continue;
      }
      auto const dtype = m_program.tensors[static_cast<std::size_t>(view.tensor)].dtype;
      auto const& [part, offset] = all.tensors.at(view.tensor);
      operands.push_back((memory.*part).at(offset + view.offset * size_bytes(dtype)));
    }
  }
  operands.push_back(op.workspace_bytes > 0 ? memory.operands.at(all.bytes) : nullptr);
  return operands;
}

// Fills a tensor with numbers like those of training: small numbers of both signs, row numbers from
// all over a table, weights of 1.
void OpBench::fill(Op const& op, Tensor const& tensor, OperandMemory& memory,
                   std::int64_t offset) const {
  std::uint64_t state = 0x9e3779b97f4a7c15;
  auto const elements = element_count(tensor.shape);
  auto const real = [&] { return static_cast<float>(next_random(state) % 2001) * 1e-4f - 0.1f; };
  auto const values = [&]() -> std::vector<std::byte> {
    if (tensor.dtype == DType::i32) {
      auto const rows = static_cast<std::uint64_t>(table_rows(m_program, op, tensor));
      return pattern<std::int32_t>(
          elements, [&] { return static_cast<std::int32_t>(next_random(state) % rows); });
    }
    if (tensor.dtype == DType::f64) return pattern<double>(elements, [] { return 1.0; });
    if (tensor.dtype == DType::bf16)
      return pattern<bf16>(elements, [&] { return to_bf16(real()); });
    if (tensor.dtype == DType::f32 && tensor.role == Role::batch)
      return pattern<float>(elements, [] { return 1.0f; });
    if (tensor.dtype == DType::f32) return pattern<float>(elements, real);
    return pattern<std::byte>(tensor.bytes(), [] { return std::byte{0}; });
  };
  auto bytes = values();
  memory.repeat(bytes, offset, tensor.bytes());
}

// Writes as many bytes as caches hold. On a device this is done in the stream, before the work that
// is launched next.
void OpBench::flush_caches(On lane) {
  if (is_cached(m_program)) return;
  auto* const first = memory(lane).flush.at(0);
  if (!lane.is_host() && m_lane.stream() != nullptr) {
    m_lane.stream()->fill({first, kFlushBytes}, std::byte{1});
  } else {
    std::fill_n(static_cast<std::byte*>(first), kFlushBytes, std::byte{1});
  }
}

double OpBench::run_s(Launch const& launch, Exec const& exec, void* const* operands, On lane) {
  auto const run = [&] { launch(exec, operands); };
  // On a busy core, a thread that has just filled memory has used up its turn, and another process
  // would have the core in the middle of the op. A run's lanes give way between items, too.
  auto const prepare = [&] {
    flush_caches(lane);
    give_way();
  };
  if (!lane.is_host()) return m_lane.seconds(run, prepare);
  prepare();
  auto const begin = SteadyClock::now();
  run();
  return seconds_since(begin);
}

double OpBench::seconds(Op const& op, On lane) {
  auto const operands = place(op, lane);
  KernelContext const context{m_program.tensors, m_program.chunks, m_program.arithmetic};
  auto const& kernels = m_compute.kernels;
  auto const side = lane.is_host() ? kernels.host(op.kind).serial : kernels.device.of(op.kind).bind;
  auto const launch = side(context, op);
  HostPool pool(static_cast<int>(std::max<std::int64_t>(1, lane.host_threads)));
  Exec const alone, shared(pool);
  auto const& exec = !lane.is_host() ? m_lane.exec() : pool.threads() > 1 ? shared : alone;
  auto const timed_s = [&] { return run_s(launch, exec, operands.data(), lane); };
  double const first_s = timed_s();
  if (first_s > kLong_s) return first_s;
  std::vector<double> runs;
  for (double sum_s = 0; runs.empty() || (runs.size() < kMostRuns && sum_s < kEnough_s);) {
    runs.push_back(timed_s());
    sum_s += runs.back();
  }
  return undisturbed_time(runs);
}

}  // namespace spillway
