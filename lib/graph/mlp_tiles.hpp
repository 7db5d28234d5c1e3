// The ops `mlp` and `mlp_backward` take some rows at a time, a tile. What lies between the two
// products of an MLP then exists for these rows alone, in the op's workspace, and never for all
// rows of a long sequence (Bekman et al., Arctic Long Sequence Training, arXiv:2506.13996, section
// on sequence tiling).
//
// A tile is a few plainer ops. Rows do not depend on each other, so y and dx have the bits that
// they have without tiles, if products of fewer rows have. Gradients of parameters are summed over
// tiles in ascending order and in fp32, and are rounded once, as the loss sums its portions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id_vector.hpp"
#include "graph/op.hpp"
#include "graph/operands.hpp"

namespace spillway {

// Says whether the op is an `mlp` or `mlp_backward` whose attributes and operands fit each other.
// Those of graphs do; an op that was read from a file may have any.
bool has_tiles(Op const& op);

class MlpTiles {
 public:
  // `op` is an `mlp` or `mlp_backward`, whose views refer to `tensors`. Throws std::logic_error,
  // naming the op, for gradients with gaps that would have to be rounded.
  MlpTiles(Op const& op, std::span<Tensor const> tensors);

  // Holds one tensor for each operand of the op, in their order, and then those of the workspace.
  // The ops of tiles refer to these.
  IdVector<Tensor> const& tensors() const { return m_tensors; }
  TensorId operands() const { return m_operands; }  // how many of the tensors are operands

  int count() const { return m_samples * m_per_sample; }
  std::vector<Op> ops(int tile) const;
  // Returns what follows the last tile: sums are rounded to gradients.
  std::vector<Op> last_ops() const;

  // Lists tiles that take as long as `count` tiles in all.
  struct Alike {
    int tile = 0, count = 0;
  };
  std::vector<Alike> alike() const;

 private:
  struct Rows {
    std::int64_t first = 0, count = 0, sample = 0, first_of_sample = 0;
  };
  struct Between {  // what lies between the products, for the rows of a tile
    View in, active, dropped;
  };

  View operand(View const& view);
  View scratch(char const* name, DType dtype, Shape shape);
  // Returns where a gradient is summed over tiles.
  View sum_of(View const& gradient);
  View partial_sums(View const& gradient);
  void make_scratch();
  Rows rows(int tile) const;
  Between between(Rows const& rows) const;
  void append_forward(std::vector<Op>& ops, Rows const& rows, Between const& to) const;
  std::vector<Op> backward_ops(int tile) const;
  template <OpKind kind>
  void append(std::vector<Op>& ops, Operands<kind> const& operands,
              Attributes attributes = {}) const;
  void append_product(std::vector<Op>& ops, Operands<OpKind::matmul> const& operands,
                      bool adds = false) const;
  void append_dropout(std::vector<Op>& ops, Rows const& rows, View const& x, View const& y) const;

  Op const& m_op;
  std::span<Tensor const> m_graph_tensors;
  IdVector<Tensor> m_tensors;
  TensorId m_operands = 0;
  MlpAttributes m_attributes;
  int m_samples = 1, m_per_sample = 1;
  std::int64_t m_rows = 0, m_most_rows = 0;  // rows of a sample, and the most of a tile
  Operands<OpKind::mlp> m_mlp;               // of a backward op what both kinds have
  Operands<OpKind::mlp_backward> m_backward;
  Between m_between;
  View m_din;                              // the gradient of what the first product makes
  View m_dw_in, m_dw_out;                  // sums over tiles
  View m_dbias_in_sums, m_dbias_out_sums;  // a row for each tile
};

}  // namespace spillway
