#include "kernels/host/onednn/matmul.hpp"

#include <fmt/core.h>

#include <array>
#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "base/allocator_pass.hpp"
#include "base/check.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway::host {
namespace {

using dnnl::memory;

dnnl::engine const& engine() {
  static dnnl::engine const cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::desc descriptor(MatrixLayout const& m) {
  check(m.dtype == DType::f32 || m.dtype == DType::bf16, name(m.dtype),
        "no product computes with it");
  check(m.row_stride == 1 || m.column_stride == 1, "a matrix",
        "neither its rows nor its columns are contiguous");
  return {{m.rows, m.columns},
          m.dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32,
          memory::dims{m.row_stride, m.column_stride}};
}

// oneDNN needs c to have contiguous rows. If only the columns of c are contiguous and there is no
// bias, c^T = b^T a^T is computed instead.
bool computes_transposed(MatmulShape const& shape) {
  return shape.c.column_stride != 1 && !shape.bias;
}

std::string text(MatrixLayout const& m) {
  return fmt::format("{}[{},{}] with strides {},{}", name(m.dtype), m.rows, m.columns, m.row_stride,
                     m.column_stride);
}

dnnl::matmul::primitive_desc primitive_descriptor(MatmulShape const& shape) {
  bool const swap = computes_transposed(shape);
  auto const as_run = [swap](MatrixLayout const& m) {
    return descriptor(swap ? m.transposed() : m);
  };
  auto const src = as_run(swap ? shape.b : shape.a), weights = as_run(swap ? shape.a : shape.b);
  auto const dst = as_run(shape.c);

  dnnl::post_ops after;
  if (shape.accumulate) after.append_sum(1.0f);
  if (shape.addend) after.append_binary(dnnl::algorithm::binary_add, as_run(*shape.addend));
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  MatrixLayout const bias = dense_matrix(shape.a.dtype, 1, shape.c.columns);
  auto const product = shape.bias ? dnnl::matmul::desc(src, weights, descriptor(bias), dst)
                                  : dnnl::matmul::desc(src, weights, dst);
  return {product, attributes, engine()};
}

}  // namespace

// Holds oneDNN's primitive and its arguments. A run only sets the arguments' addresses.
struct OneDnnMatmul::Bound {
  enum Place { a, b, c, bias, addend, workspace, count };

  std::int64_t threads;
  dnnl::matmul::primitive_desc descriptor;
  dnnl::matmul primitive;
  dnnl::stream stream{engine()};
  std::array<memory, count> operands;  // empty if the product lacks the operand
  std::vector<dnnl_exec_arg_t> arguments;

  void add(Place place, int argument, memory::desc const& desc) {
    operands[place] = memory(desc, engine(), DNNL_MEMORY_NONE);
    arguments.push_back({argument, operands[place].get()});
  }
  void point(Place place, void const* address) {
    if (operands[place]) operands[place].set_data_handle(const_cast<void*>(address));
  }
};

OneDnnMatmul::OneDnnMatmul(MatmulShape const& shape, std::int64_t threads)
    : m_bound(std::make_unique<Bound>()) {
  Team const team(threads);  // oneDNN divides the product's work among this many threads
  auto& m = *m_bound;
  m.threads = threads;
  try {
    m.descriptor = primitive_descriptor(shape);
    m.primitive = dnnl::matmul(m.descriptor);
  } catch (dnnl::error const& error) {
    throw Error(Status::bad_input,
                fmt::format("oneDNN offers no product {} x {} -> {} here: {}", text(shape.a),
                            text(shape.b), text(shape.c), error.what()));
  }

  bool const swap = computes_transposed(shape);
  m.add(swap ? Bound::b : Bound::a, DNNL_ARG_SRC, m.descriptor.src_desc());
  m.add(swap ? Bound::a : Bound::b, DNNL_ARG_WEIGHTS, m.descriptor.weights_desc());
  m.add(Bound::c, DNNL_ARG_DST, m.descriptor.dst_desc());
  if (shape.bias) m.add(Bound::bias, DNNL_ARG_BIAS, m.descriptor.bias_desc());
  if (shape.addend) {
    int const position = shape.accumulate ? 1 : 0;
    m.add(Bound::addend, DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1,
          descriptor(swap ? shape.addend->transposed() : *shape.addend));
  }
  if (workspace_bytes() > 0)
    m.add(Bound::workspace, DNNL_ARG_SCRATCHPAD, m.descriptor.scratchpad_desc());
}

OneDnnMatmul::OneDnnMatmul(OneDnnMatmul&&) noexcept = default;
OneDnnMatmul& OneDnnMatmul::operator=(OneDnnMatmul&&) noexcept = default;
OneDnnMatmul::~OneDnnMatmul() = default;

std::int64_t OneDnnMatmul::workspace_bytes() const {
  auto const bytes = static_cast<std::int64_t>(m_bound->descriptor.scratchpad_desc().get_size());
  return round_up<std::int64_t>(bytes, 64);
}

std::string OneDnnMatmul::implementation() const {
  return m_bound->descriptor.impl_info_str();
}

void OneDnnMatmul::operator()(MatmulOperands const& operands) const {
  auto& m = *m_bound;
  m.point(Bound::a, operands.a);
  m.point(Bound::b, operands.b);
  m.point(Bound::c, operands.c);
  m.point(Bound::bias, operands.bias);
  m.point(Bound::addend, operands.addend);
  m.point(Bound::workspace, operands.workspace);
  Team const team(m.threads);
  AllocatorPass const pass;  // lets oneDNN allocate a list of arguments
  // The C function is called because oneDNN's C++ wrapper would copy the arguments into a new
  // vector.
  auto const status = dnnl_primitive_execute(
      m.primitive.get(), m.stream.get(), static_cast<int>(m.arguments.size()), m.arguments.data());
  if (status != dnnl_success)
    throw Error(Status::cannot_fit,
                fmt::format("oneDNN's {} failed with its status {}; the likely cause is no memory",
                            implementation(), static_cast<int>(status)));
  m.stream.wait();
}

}  // namespace spillway::host
