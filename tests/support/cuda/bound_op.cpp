#include "tests/support/cuda/bound_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/kernel.hpp"

namespace spillway::test::cuda {
namespace {

struct Expected {
  bool given = false;
  std::vector<AddressRange> ranges;
};
thread_local Expected t_expected;

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

// The operands of one launch, at the addresses that callers of CUDA know.
struct Places {
  std::vector<AddressRange> ranges;
  std::vector<void const*> views;  // where they begin, though the beginning need not be in memory
};

// Returns whether the launch reads any of these bytes. If it reads bytes of an output, the output
// is not made NaN before the kernel runs.
bool is_read(BoundOp const& bound, Places const& places, AddressRange const& range) {
  for (std::size_t i = 0; i < bound.operands.size(); ++i) {
    if (bound.operands[i].reads && places.ranges[i].overlaps(range)) return true;
  }
  return false;
}

// A kernel may read what it has written itself, so all parts may be read.
void add_operand(LaunchedOp& op, BoundOp const& bound, Places const& places, std::size_t i) {
  auto const& operand = bound.operands[i];
  auto const& range = places.ranges[i];
  if (range.bytes == 0) return;
  if (operand.reads) op.accesses.push_back({range, false});
  if (operand.writes) op.accesses.push_back({range, true});
  bool const is_fresh = operand.fresh && !is_read(bound, places, range);
  auto const first = reinterpret_cast<std::uintptr_t>(places.views[i]);
  for (auto const& piece : operand.pieces) {
    auto const held = common({first + piece.first, piece.bytes}, range);
    if (held.bytes == 0) continue;
    op.parts.push_back({operand.name, held, operand.writes});
    if (is_fresh) op.fresh.push_back(held);
  }
  for (auto const& gap : operand.gaps) {
    auto const held = common({first + gap.first, gap.bytes}, range);
    if (held.bytes > 0) op.gaps.push_back(held);
  }
}

}  // namespace

BoundOp bound_op(KernelContext const& context, Op const& op, Launch launch) {
  return {op.name, cuda::operands(context, op), op.inputs.size() + op.outputs.size(),
          std::move(launch)};
}

PlacedOp place(State const& all, BoundOp const& bound, void* const* operands) {
  auto const expected = std::exchange(t_expected, {});
  if (expected.given && expected.ranges.size() != bound.operands.size())
    throw std::runtime_error("has another number of operands than its item says");
  PlacedOp result{.op = {.name = bound.name}, .touchable = {}};
  Places places;
  places.views.assign(operands, operands + bound.operands.size());
  for (std::size_t i = 0; i < bound.operands.size(); ++i) {
    auto const& operand = bound.operands[i];
    if (operands[i] == nullptr || !operand.present) {
      if (operand.present && operand.bytes > 0)
        throw std::runtime_error(fmt::format("has no operand {}", operand.name));
      places.ranges.emplace_back();
      result.touchable.push_back(nullptr);
      continue;
    }
    auto const there = bytes_there(operand, operands[i], expected, i);
    auto const* const at = reachable(all, there);
    if (at == nullptr)
      throw std::runtime_error(fmt::format("cannot reach all bytes of operand {}", operand.name));
    auto const shift = reinterpret_cast<std::uintptr_t>(operands[i]) - there.first;
    places.ranges.push_back(common(there, range_of(operands[i], operand.bytes)));
    result.touchable.push_back(
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) + shift));
  }
  // If the op has no workspace, kernels get null for it.
  if (bound.operands.size() == bound.views) result.touchable.push_back(nullptr);
  for (std::size_t i = 0; i < bound.operands.size(); ++i) add_operand(result.op, bound, places, i);
  result.op.parts = without_overlap(std::move(result.op.parts));
  return result;
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
  if (auto const* const op = launched_op())
    return std::ranges::any_of(op->accesses, [&](auto const& a) { return a.range.holds(range); });
  return !t_expected.given ||
         std::ranges::any_of(t_expected.ranges, [&](auto const& r) { return r.holds(range); });
}

}  // namespace spillway::test::cuda
