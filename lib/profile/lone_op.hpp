// A LoneOp runs an op that belongs to no graph.
#pragma once

#include <vector>

#include "graph/operands.hpp"
#include "kernels/host/workspaces.hpp"
#include "profile/compute_lane.hpp"
#include "profile/operand_memory.hpp"

namespace spillway {

// A LoneOp binds a matmul or an add to three tensors of equal shape, as an Engine would. The last
// tensor is the output.
class LoneOp {
 public:
  LoneOp(OpKind kind, DType dtype, Shape const& shape, Arithmetic const& arithmetic,
         Compute const& compute)
      : m_memory(&compute.device), m_lane(compute), m_arithmetic(arithmetic) {
    for (TensorId id = 0; id < 3; ++id) {
      Tensor tensor;
      tensor.id = id;
      tensor.dtype = dtype;
      tensor.shape = shape;
      m_tensors.push_back(tensor);
    }
    auto const of = [&](std::size_t i) { return whole(m_tensors[i]); };
    if (kind == OpKind::matmul)
      set_operands(m_op, Operands<OpKind::matmul>{.a = of(0), .b = of(1), .c = of(2)});
    else
      set_operands(m_op, Operands<OpKind::add>{.a = of(0), .b = of(1), .c = of(2)});
    m_arithmetic.threads = compute.concurrency();
    KernelContext const context{m_tensors, {}, m_arithmetic};
    m_op.workspace_bytes = workspace_bytes(context, m_op);
    auto const bytes = m_tensors[0].bytes();
    m_memory.need(3 * bytes + m_op.workspace_bytes);
    for (auto const* views : {&m_op.inputs, &m_op.outputs})
      for (View const& view : *views)
        m_operands.push_back(is_present(view) ? m_memory.at(view.tensor * bytes) : nullptr);
    m_operands.push_back(m_op.workspace_bytes > 0 ? m_memory.at(3 * bytes) : nullptr);
    m_arithmetic.products = compute.product_choices(context, {&m_op, 1});
    m_launch = compute.kernels.device.of(kind).bind(context, m_op);
  }

  // Runs the op and returns the seconds that it took.
  double operator()() const {
    return m_lane.seconds([&] { m_launch(m_lane.exec(), m_operands.data()); });
  }
  double traffic() const { return static_cast<double>(traffic_bytes(m_op, m_tensors)); }

 private:
  OperandMemory m_memory;  // declared before the lane, to end after the lane's work
  ComputeLane m_lane;
  Op m_op;
  IdVector<Tensor> m_tensors;
  std::vector<void*> m_operands;
  Arithmetic m_arithmetic;
  Launch m_launch;
};

}  // namespace spillway
