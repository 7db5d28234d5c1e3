#include "tests/support/graph_faults.hpp"

#include <algorithm>

namespace spillway::test {

namespace {

bool is_backward(Op const& op) {
  return op.phase == Phase::backward;
}

template <class T>
T const& any_of(std::vector<T> const& all, Random& draws) {
  return all[static_cast<std::size_t>(below(draws, static_cast<int>(all.size())))];
}

Op& op_of(Graph& graph, int id) {
  return graph.ops[static_cast<std::size_t>(id)];
}

// Makes all ops from `first_op` on use the tensor `by` instead of `tensor`.
void replace(Graph& graph, TensorId tensor, TensorId by, int first_op = 0) {
  for (auto id = first_op; id < static_cast<int>(graph.ops.size()); ++id) {
    Op& op = op_of(graph, id);
    for (auto* views : {&op.inputs, &op.outputs})
      for (View& view : *views)
        if (view.tensor == tensor) view.tensor = by;
  }
}

// Returns the number of the input that the op adds to its first output, or -1 if there is none.
int addend_of(Op const& op) {
  auto const input = op.kind == OpKind::matmul               ? 3
                     : op.kind == OpKind::layernorm_backward ? 5
                     : op.kind == OpKind::rmsnorm_backward   ? 4
                     : op.kind == OpKind::mlp_backward       ? 5
                                                             : -1;
  return input >= 0 && is_present(op.inputs[static_cast<std::size_t>(input)]) ? input : -1;
}

// Says how a backward op adds an earlier contribution to its own: as the op `accumulate` or `add`,
// in place, or by an optional input (addend).
enum class Sum : std::uint8_t { accumulate, in_place, addend, add };
struct SumOf {
  int op;
  Sum kind;
};

std::vector<SumOf> sums(Graph const& graph) {
  std::vector<SumOf> all;
  for (Op const& op : graph.ops) {
    if (!is_backward(op)) continue;
    if (op.kind == OpKind::accumulate) all.push_back({op.id, Sum::accumulate});
    if (op.kind == OpKind::embed_backward && !op.in_place.empty())
      all.push_back({op.id, Sum::in_place});
    if (addend_of(op) >= 0) all.push_back({op.id, Sum::addend});
    if (op.kind == OpKind::add) all.push_back({op.id, Sum::add});
  }
  return all;
}

// Lists the ops that write and read a gradient of an activation.
struct Life {
  TensorId tensor = -1;
  std::vector<int> writes, reads;
};

bool is_gradient_of_activation(Graph const& graph, View const& view) {
  Tensor const& tensor = graph.tensor(view);
  return tensor.is_activation() && tensor.name.find(".d(") != std::string::npos;
}

std::vector<Life> lives(Graph const& graph) {
  std::vector<Life> all(graph.tensors.size());
  for (Op const& op : graph.ops) {
    if (!is_backward(op)) continue;
    auto const note = [&](std::vector<View> const& views, std::vector<int> Life::*list) {
      for (View const& view : present(views)) {
        if (!is_gradient_of_activation(graph, view)) continue;
        auto& life = all[static_cast<std::size_t>(view.tensor)];
        life.tensor = view.tensor;
        (life.*list).push_back(op.id);
      }
    };
    note(op.inputs, &Life::reads);
    note(op.outputs, &Life::writes);
  }
  std::erase_if(all, [](Life const& life) { return life.writes.empty() || life.reads.empty(); });
  return all;
}

// Returns the backward op of a forward attention op, or -1 if there is none.
int backward_of(Graph const& graph, int forward) {
  auto const found = std::ranges::find_if(graph.ops, [&](Op const& op) {
    return op.kind == OpKind::attention_backward && op.origin == forward;
  });
  return found == graph.ops.end() ? -1 : found->id;
}

AttentionAttributes shifted(AttentionAttributes attributes, Random& draws) {
  bool const causal = attributes.causal;
  if (!causal || below(draws, 3) == 0) {
    attributes.causal = !causal;
    attributes.window = 0;
    return attributes;
  }
  auto const window = attributes.window > 0 ? attributes.window : attributes.keys;
  bool const wider = window < attributes.keys && (window == 1 || below(draws, 2) == 0);
  attributes.window = wider ? window + 1 : window - 1;
  return attributes;
}

}  // namespace

std::optional<FaultyGraph> drop_accumulate(Graph const& graph, Random& draws) {
  auto const places = sums(graph);
  if (places.empty()) return {};
  auto const place = any_of(places, draws);
  FaultyGraph faulty{graph, graph};
  Op& op = op_of(faulty.graph, place.op);
  switch (place.kind) {
    case Sum::accumulate:
      op.elided = true;
      break;
    case Sum::in_place:
      op.in_place.clear();
      break;
    case Sum::addend:
      op.inputs[static_cast<std::size_t>(addend_of(op))] = {};
      break;
    case Sum::add:
      op.elided = true;
      replace(faulty.graph, op.outputs[0].tensor, op.inputs[1].tensor, op.id + 1);
      break;
  }
  return faulty;
}

std::optional<FaultyGraph> alias_gradients(Graph const& graph, Random& draws) {
  auto const all = lives(graph);
  std::vector<std::pair<TensorId, TensorId>> pairs;
  for (Life const& victim : all) {
    for (Life const& other : all) {
      auto const& a = graph.tensors[static_cast<std::size_t>(victim.tensor)];
      auto const& b = graph.tensors[static_cast<std::size_t>(other.tensor)];
      if (victim.tensor == other.tensor || a.shape != b.shape) continue;
      auto const written = other.writes.front();
      if (victim.writes.back() < written && written < victim.reads.back())
        pairs.emplace_back(victim.tensor, other.tensor);
    }
  }
  if (pairs.empty()) return {};
  FaultyGraph faulty{graph, graph};
  auto const [victim, other] = any_of(pairs, draws);
  replace(faulty.graph, other, victim);
  return faulty;
}

std::optional<FaultyGraph> drop_contribution(Graph const& graph, Random& draws) {
  std::vector<std::pair<int, std::size_t>> places;
  for (Op const& op : graph.ops) {
    if (!is_backward(op) || op.kind == OpKind::accumulate || op.kind == OpKind::add) continue;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      View const& output = op.outputs[i];
      if (!is_present(output) || is_in_place(op, i)) continue;
      if (graph.tensor(output).role == Role::gradient || is_gradient_of_activation(graph, output))
        places.emplace_back(op.id, i);
    }
  }
  if (places.empty()) return {};
  auto const [id, output] = any_of(places, draws);
  FaultyGraph faulty{graph, graph};
  Op& op = op_of(faulty.graph, id);
  auto const tensor = op.outputs[output].tensor;
  auto nowhere = graph.tensors[static_cast<std::size_t>(tensor)];
  nowhere.id = op.outputs[output].tensor = static_cast<TensorId>(graph.tensors.size());
  faulty.graph.tensors.push_back(nowhere);
  if (int const addend = addend_of(op); output == 0 && addend >= 0) {
    replace(faulty.graph, tensor, op.inputs[static_cast<std::size_t>(addend)].tensor, id + 1);
  } else {
    faulty.zeroed = {tensor};
  }
  return faulty;
}

std::optional<FaultyGraph> shift_mask(Graph const& graph, Random& draws) {
  std::vector<int> places;
  for (Op const& op : graph.ops) {
    if (op.kind != OpKind::attention || backward_of(graph, op.id) < 0) continue;
    auto const& attributes = attributes_of<AttentionAttributes>(op);
    if (attributes.queries == attributes.keys) places.push_back(op.id);
  }
  if (places.empty()) return {};
  int const forward = any_of(places, draws), backward = backward_of(graph, forward);
  auto const attributes = shifted(
      attributes_of<AttentionAttributes>(graph.ops[static_cast<std::size_t>(forward)]), draws);
  FaultyGraph faulty{graph, graph};
  op_of(faulty.graph, backward).attributes = attributes;
  if (below(draws, 2) == 0) return faulty;
  std::swap(faulty.graph, faulty.sound);
  op_of(faulty.graph, forward).attributes = op_of(faulty.sound, forward).attributes = attributes;
  return faulty;
}

}  // namespace spillway::test
