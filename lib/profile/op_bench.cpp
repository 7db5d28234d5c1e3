#include "profile/op_bench.hpp"

#include <algorithm>
#include <cstring>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "base/median.hpp"
#include "base/steady_clock.hpp"
#include "kernels/exec.hpp"
#include "kernels/host_pool.hpp"
#include "kernels/kernel.hpp"

namespace spillway {
namespace {

constexpr double kLong_s = 0.05, kEnough_s = 0.02;
constexpr std::size_t kMostRuns = 2;
constexpr std::size_t kFlushBytes = std::size_t{32} << 20;  // beyond most caches
constexpr std::int64_t kPage = 4096;

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// Fills `to` with a short pattern, repeated, whose values come from `make`.
template <class T, class Make>
void fill_with(std::byte* to, std::int64_t elements, Make const& make) {
  constexpr std::int64_t most = 4099;
  std::vector<T> pattern(static_cast<std::size_t>(std::min(elements, most)));
  for (auto& value : pattern) value = make();
  for (std::int64_t done = 0; done < elements; done += most) {
    auto const count = static_cast<std::size_t>(std::min(most, elements - done));
    std::memcpy(to + static_cast<std::size_t>(done) * sizeof(T), pattern.data(), count * sizeof(T));
  }
}

// Returns the rows of the table from which an op picks rows by number, or 1 if it picks none.
std::int64_t table_rows(Program const& program, Op const& op) {
  std::int64_t rows = 1;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : present(*views)) {
      auto const role = program.tensors[static_cast<std::size_t>(view.tensor)].role;
      bool const weights = role == Role::parameter || role == Role::gradient;
      if (weights && view.shape.size() == 2) rows = std::max(rows, view.shape[0]);
    }
  }
  return rows;
}

// Returns the bytes of all tensors, which pass through the caches in a step.
std::size_t step_bytes(Program const& program) {
  std::int64_t bytes = 0;
  for (Tensor const& tensor : program.tensors) bytes += tensor.bytes();
  return static_cast<std::size_t>(bytes);
}

}  // namespace

OpBench::OpBench(Program const& program, Exec const& exec)
    : m_program(program), m_exec(exec), m_flush(is_cached(program) ? 0 : kFlushBytes) {}

bool OpBench::is_cached(Program const& program) {
  return step_bytes(program) <= kFlushBytes;
}

// Places the op's tensors one after the other, each of them once.
OpBench::Placed OpBench::placed(Op const& op) const {
  Placed result;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : present(*views)) {
      if (!result.offsets.try_emplace(view.tensor, result.bytes).second) continue;
      auto const& tensor = m_program.tensors[static_cast<std::size_t>(view.tensor)];
      result.bytes += round_up(tensor.bytes(), kPage);
    }
  }
  return result;
}

std::int64_t OpBench::operand_bytes(Op const& op) const {
  return placed(op).bytes + op.workspace_bytes;
}

// Returns the address of each view of the op, then that of its workspace.
std::vector<void*> OpBench::place(Op const& op) {
  auto const [offsets, bytes] = placed(op);
  auto const needed = static_cast<std::size_t>(bytes + op.workspace_bytes);
  if (m_memory.all().size() < needed) {
    m_memory = Pages();  // free the old first: there may be no room for both
    m_memory = Pages(needed);
  }
  for (auto const& [id, offset] : offsets)
    fill(op, m_program.tensors[static_cast<std::size_t>(id)], m_memory.data() + offset);
  std::vector<void*> operands;
  for (auto const* views : {&op.inputs, &op.outputs}) {
    for (View const& view : *views) {
      if (!is_present(view)) {
        operands.push_back(nullptr);
        continue;
      }
      auto const dtype = m_program.tensors[static_cast<std::size_t>(view.tensor)].dtype;
      operands.push_back(m_memory.data() + offsets.at(view.tensor) +
                         view.offset * size_bytes(dtype));
    }
  }
  if (op.workspace_bytes > 0) operands.push_back(m_memory.data() + bytes);
  return operands;
}

// Fills in numbers like those of training: small ones of both signs, row numbers from all over a
// table, weights of 1.
void OpBench::fill(Op const& op, Tensor const& tensor, std::byte* to) const {
  std::uint64_t state = 0x9e3779b97f4a7c15;
  auto const elements = element_count(tensor.shape);
  auto const real = [&] { return static_cast<float>(next_random(state) % 2001) * 1e-4f - 0.1f; };
  if (tensor.dtype == DType::i32) {
    auto const rows = static_cast<std::uint64_t>(table_rows(m_program, op));
    fill_with<std::int32_t>(to, elements,
                            [&] { return static_cast<std::int32_t>(next_random(state) % rows); });
  } else if (tensor.dtype == DType::f64) {
    fill_with<double>(to, elements, [] { return 1.0; });
  } else if (tensor.dtype == DType::bf16) {
    fill_with<bf16>(to, elements, [&] { return to_bf16(real()); });
  } else if (tensor.dtype == DType::f32 && tensor.role == Role::batch) {
    fill_with<float>(to, elements, [] { return 1.0f; });
  } else if (tensor.dtype == DType::f32) {
    fill_with<float>(to, elements, real);
  } else {
    std::fill_n(to, tensor.bytes(), std::byte{0});
  }
}

void OpBench::flush_caches() {
  std::fill_n(m_flush.data(), m_flush.all().size(), std::byte{1});
}

double OpBench::seconds(Op const& op, On lane) {
  auto const operands = place(op);
  KernelContext const context{m_program.tensors, m_program.chunks, m_program.arithmetic};
  auto const side = lane.is_host() ? kernel(op.kind).serial : kernel(op.kind).bind;
  auto const launch = side(context, op);
  HostPool pool(static_cast<int>(std::max<std::int64_t>(1, lane.host_threads)));
  auto const exec = pool.threads() > 1 ? m_exec.with(pool) : m_exec;
  auto const run_s = [&] {
    flush_caches();
    auto const begin = SteadyClock::now();
    launch(exec, operands.data());
    if (!lane.is_host()) exec.fence();
    return seconds_since(begin);
  };
  double const first_s = run_s();
  if (first_s > kLong_s) return first_s;
  std::vector<double> runs;
  for (double sum_s = 0; runs.empty() || (runs.size() < kMostRuns && sum_s < kEnough_s);) {
    runs.push_back(run_s());
    sum_s += runs.back();
  }
  return median(runs);
}

}  // namespace spillway
