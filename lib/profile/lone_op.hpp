// Runs an op that belongs to no graph.
#pragma once

#include <vector>

#include "base/pages.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

// Binds one op to three tensors of equal shape, of which the last is its output, as an Engine
// would.
class LoneOp {
 public:
  LoneOp(OpKind kind, DType dtype, Shape const& shape, Arithmetic const& arithmetic,
         Exec const& exec, std::byte* memory)
      : m_exec(exec), m_arithmetic(arithmetic) {
    m_op.kind = kind;
    for (TensorId id = 0; id < 3; ++id) {
      Tensor tensor;
      tensor.id = id;
      tensor.dtype = dtype;
      tensor.shape = shape;
      m_tensors.push_back(tensor);
      (id < 2 ? m_op.inputs : m_op.outputs).push_back(whole(tensor));
    }
    if (kind == OpKind::matmul) m_op.inputs.resize(4);  // it has no bias and no addend
    for (auto const* views : {&m_op.inputs, &m_op.outputs})
      for (View const& view : *views)
        m_operands.push_back(is_present(view) ? memory + view.tensor * m_tensors[0].bytes()
                                              : nullptr);
    m_arithmetic.threads = exec.concurrency();
    KernelContext const context{m_tensors, {}, m_arithmetic};
    m_op.workspace_bytes = workspace_bytes(context, m_op);
    m_workspace = Pages(static_cast<std::size_t>(m_op.workspace_bytes));
    if (m_op.workspace_bytes > 0) m_operands.push_back(m_workspace.data());
    m_launch = kernel(kind).bind(context, m_op);
  }

  void operator()() const {
    m_launch(m_exec, m_operands.data());
    m_exec.fence();
  }
  double traffic() const { return static_cast<double>(traffic_bytes(m_op, m_tensors)); }

 private:
  Exec const& m_exec;
  Op m_op;
  IdVector<Tensor> m_tensors;
  Pages m_workspace;
  std::vector<void*> m_operands;
  Arithmetic m_arithmetic;
  Launch m_launch;
};

}  // namespace spillway
