// Muon (Jordan et al., https://kellerjordan.github.io/posts/muon) as torch.optim.Muon has it: the
// matrices of layers step by their momentum made orthogonal. All else (embeddings, the head, norms,
// biases) is updated by AdamW. The formula is in lib/kernels/formulas/muon.hpp.
#include <algorithm>

#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

bool is_matrix(Graph const& graph, Chunk const& chunk, Parameter const& parameter) {
  return graph.blocks[chunk.block].layer && parameter.view.shape.size() == 2;
}

// Returns the elements that each parameter has in a state, of which matrices have so many times
// their own, or nothing if the chunk has no matrix.
std::vector<std::int64_t> elements(Graph const& graph, Chunk const& chunk, std::int64_t of_matrix) {
  std::vector<std::int64_t> result;
  bool has_matrix = false;
  for (Parameter const& parameter : chunk.parameters) {
    bool const is_it = is_matrix(graph, chunk, parameter);
    result.push_back((is_it ? of_matrix : 1) * element_count(parameter.view.shape));
    has_matrix |= is_it;
  }
  if (!has_matrix) result.clear();
  return result;
}
std::vector<std::int64_t> first_moments(Graph const& graph, Chunk const& chunk) {
  return elements(graph, chunk, 1);
}
std::vector<std::int64_t> second_moments(Graph const& graph, Chunk const& chunk) {
  return elements(graph, chunk, 0);
}

constexpr StateRow kMuonStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                    {"m", Role::moment, fp32_dtype, 1, first_moments},
                                    {"v", Role::moment, fp32_dtype, 1, second_moments}};

// Counts the products of Newton and Schulz's iteration.
double flops(Graph const& graph, Chunk const& chunk) {
  double sum = 0;
  for (Parameter const& parameter : chunk.parameters) {
    if (!is_matrix(graph, chunk, parameter)) continue;
    auto const [few, many] = std::minmax({static_cast<double>(parameter.view.shape[0]),
                                          static_cast<double>(parameter.view.shape[1])});
    sum += kMuonIterations * (4 * few * few * many + 2 * few * few * few);
  }
  return sum;
}

Op muon_op(Graph const& graph, Chunk const& chunk) {
  auto const& optim = graph.optim;
  double const lr_share = optim.adamw_lr > 0 && optim.lr > 0 ? optim.adamw_lr / optim.lr : 1;
  auto const all_by_adamw = adamw_op(graph, chunk, lr_share);
  if (!chunk.is_updated_whole()) return all_by_adamw;
  auto operands = update_operands<OpKind::muon>(graph, chunk);
  operands.m = state_view(graph, chunk, "m");
  operands.v = state_view(graph, chunk, "v");
  Op op;
  set_operands(op, operands);
  op.whole_chunk = true;
  op.flops = flops(graph, chunk);
  double const momentum = optim.momentum > 0 ? optim.momentum : kMuonMomentum;
  op.attributes = MuonAttributes{momentum,
                                 optim.weight_decay,
                                 optim.adjust_lr,
                                 attributes_of<AdamWAttributes>(all_by_adamw),
                                 {}};
  return op;
}

}  // namespace

UpdateRule const muon_rule = {kMuonStates, muon_op, write_adamw_control};

}  // namespace spillway
