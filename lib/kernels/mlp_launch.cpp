#include "kernels/mlp_launch.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "base/math.hpp"
#include "graph/mlp_tiles.hpp"
#include "kernels/cuda_loss_workspace.hpp"

namespace spillway {
namespace {

constexpr std::size_t kMostOperands = 12;  // of an op of a tile, its workspace included

// Holds the byte offset of each tensor of the workspace. What the ops of tiles need for themselves
// comes last.
struct WorkspaceOffsets {
  IdVector<std::int64_t> tensors;
  std::int64_t of_part = 0;
};

WorkspaceOffsets offsets(MlpTiles const& tiles) {
  WorkspaceOffsets result{IdVector<std::int64_t>(tiles.tensors().size(), 0)};
  for (auto id = tiles.operands(); id < std::ssize(tiles.tensors()); ++id) {
    result.tensors[id] = result.of_part;
    result.of_part += round_up(tiles.tensors()[id].bytes(), kWorkspaceAlignment);
  }
  return result;
}

KernelContext context_of_parts(KernelContext const& context, MlpTiles const& tiles) {
  return {tiles.tensors(), context.chunks, context.arithmetic, context.rank};
}

// Says where an operand of a tile's op begins: so many bytes behind that operand of the op itself,
// which may be its workspace.
struct Place {
  std::size_t operand = 0;
  std::int64_t bytes = 0;
  bool present = false;
};

struct Part {
  Launch launch;
  std::vector<Place> places;
};

class Binder {
 public:
  Binder(KernelContext const& context, Op const& op, MlpTiles const& tiles)
      : m_op(op), m_tiles(tiles), m_context(context_of_parts(context, tiles)) {}

  Part part(Op const& op, auto const& bind_part) const {
    Part result{bind_part(m_context, op), {}};
    for (auto const* views : {&op.inputs, &op.outputs})
      for (View const& view : *views) result.places.push_back(place(view));
    result.places.push_back({workspace(), m_offsets.of_part, true});
    check(result.places.size() <= kMostOperands, op.name, "a tile's op has too many operands");
    return result;
  }

 private:
  std::size_t workspace() const { return static_cast<std::size_t>(m_tiles.operands()); }

  Place place(View const& view) const {
    if (!is_present(view)) return {};
    auto const size = size_bytes(m_tiles.tensors()[view.tensor].dtype);
    if (view.tensor >= m_tiles.operands())
      return {workspace(), m_offsets.tensors[view.tensor] + view.offset * size, true};
    auto const number = static_cast<std::size_t>(view.tensor), inputs = m_op.inputs.size();
    auto const& whole = number < inputs ? m_op.inputs[number] : m_op.outputs[number - inputs];
    return {number, (view.offset - whole.offset) * size, true};
  }

  Op const& m_op;
  MlpTiles const& m_tiles;
  KernelContext m_context;
  WorkspaceOffsets m_offsets = offsets(m_tiles);
};

void launch(Part const& part, Exec const& exec, void* const* operands) {
  std::array<void*, kMostOperands> at{};
  for (std::size_t i = 0; i < part.places.size(); ++i) {
    auto const [operand, bytes, present] = part.places[i];
    at[i] = present ? static_cast<std::byte*>(operands[operand]) + bytes : nullptr;
  }
  part.launch(exec, at.data());
}

}  // namespace

Launch bind_mlp(KernelContext const& context, Op const& op,
                std::function<Launch(KernelContext const&, Op const&)> const& bind_part) {
  MlpTiles const tiles(op, context.tensors);
  Binder const binder(context, op, tiles);
  auto const parts = std::make_shared<std::vector<Part>>();
  auto const bind = [&](std::vector<Op> const& ops) {
    for (Op const& of_tile : ops) parts->push_back(binder.part(of_tile, bind_part));
  };
  for (int tile = 0; tile < tiles.count(); ++tile) bind(tiles.ops(tile));
  bind(tiles.last_ops());
  return [parts](Exec const& exec, void* const* operands) {
    for (Part const& part : *parts) launch(part, exec, operands);
  };
}

std::int64_t mlp_workspace_bytes(
    KernelContext const& context, Op const& op,
    std::function<std::int64_t(KernelContext const&, Op const&)> const& bytes_of_part) {
  MlpTiles const tiles(op, context.tensors);
  auto const inner = context_of_parts(context, tiles);
  std::int64_t most = 0;
  auto const look_at = [&](std::vector<Op> const& ops) {
    for (Op const& part : ops) most = std::max(most, bytes_of_part(inner, part));
  };
  for (auto const& [tile, count] : tiles.alike()) look_at(tiles.ops(tile));
  look_at(tiles.last_ops());
  return offsets(tiles).of_part + most;
}

}  // namespace spillway
