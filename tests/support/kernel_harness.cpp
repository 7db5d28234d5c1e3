#include "tests/support/kernel_harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <random>

#include "base/math.hpp"
#include "kernels/host/workspaces.hpp"
#include "kernels/portable/space.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/kernel_watch.hpp"

namespace spillway::test {
namespace {

constexpr std::size_t kGuardBytes = 256;
// Bytes of 0xFF are a NaN in every floating type.
constexpr std::byte kGuard{0xA5}, kPoison{0xFF};
using Buffer = Kokkos::View<std::byte*, Kokkos::SharedSpace>;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Calls f for every element of the view, row by row, with the element's position in the tensor.
template <class F>
void for_each_position(View const& view, F const& f) {
  auto const n = element_count(view.shape);
  for (std::int64_t element = 0; element < n; ++element) {
    auto rest = element;
    auto position = view.offset;
    for (auto axis = view.shape.size(); axis-- > 0;) {
      position += rest % view.shape[axis] * view.strides[axis];
      rest /= view.shape[axis];
    }
    f(position);
  }
}

using Bytes = std::vector<std::byte>;

// Returns a copy of `bytes` between two guard zones.
Bytes guarded(Bytes const& bytes) {
  Bytes result(bytes.size() + 2 * kGuardBytes, kGuard);
  std::ranges::copy(bytes, result.begin() + kGuardBytes);
  return result;
}

Bytes unguarded(Bytes const& bytes, std::string const& what) {
  auto const first = bytes.begin() + kGuardBytes, last = bytes.end() - kGuardBytes;
  auto const is_guard = [](std::byte b) { return b == kGuard; };
  EXPECT_TRUE(std::all_of(bytes.begin(), first, is_guard)) << "written before " << what;
  EXPECT_TRUE(std::all_of(last, bytes.end(), is_guard)) << "written behind " << what;
  return {first, last};
}

// A HostCopies has copies of some bytes in memory that kernels on the host reach.
class HostCopies {
 public:
  explicit HostCopies(std::vector<Bytes> const& contents) {
    for (auto const& bytes : contents) {
      m_buffers.emplace_back(Kokkos::view_alloc("operand", Kokkos::WithoutInitializing),
                             bytes.size());
      std::ranges::copy(bytes, m_buffers.back().data());
    }
  }

  void* at(std::size_t i, std::int64_t offset_bytes) const {
    return m_buffers[i].data() + offset_bytes;
  }
  std::vector<Bytes> read() const {
    std::vector<Bytes> contents;
    for (auto const& buffer : m_buffers)
      contents.emplace_back(buffer.data(), buffer.data() + buffer.size());
    return contents;
  }

 private:
  std::vector<Buffer> m_buffers;
};

}  // namespace

std::unique_ptr<Exec const> other_instance([[maybe_unused]] int threads) {
  using host::Space, host::SpaceExec;
  if constexpr (std::is_constructible_v<Space, int>)
    return std::make_unique<SpaceExec>(Space(threads > 0 ? threads : Space{}.concurrency()));
  else
    return std::make_unique<SpaceExec>(Kokkos::Experimental::partition_space(Space{}, 1)[0]);
}

View KernelHarness::tensor(DType dtype, Shape shape) {
  Tensor tensor;
  tensor.id = static_cast<TensorId>(m_graph.tensors.size());
  tensor.name = "tensor" + std::to_string(tensor.id);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  m_contents.emplace_back(index(tensor.bytes()), kPoison);
  m_graph.tensors.push_back(tensor);
  return whole(tensor);
}

Chunk& KernelHarness::chunk(std::vector<std::int64_t> const& sizes) {
  Chunk chunk;
  chunk.id = 0;
  for (auto const size : sizes) {
    Parameter parameter;
    parameter.name = "parameter" + std::to_string(chunk.parameters.size());
    parameter.view = {-1, chunk.elements, {size}, {1}};
    parameter.decay = chunk.parameters.size() % 2 == 0;
    chunk.parameters.push_back(parameter);
    chunk.elements = round_up(chunk.elements + size, kParameterAlignment);
  }
  m_graph.chunks = {chunk};
  return m_graph.chunks[0];
}

void KernelHarness::op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
                       Attributes attributes, std::vector<int> in_place) {
  m_op = Op{};
  m_op.id = m_op.origin = 0;
  m_op.kind = kind;
  m_op.chunk = m_graph.chunks.empty() ? -1 : 0;
  m_op.name = name(kind);
  m_op.inputs = std::move(inputs);
  m_op.outputs = std::move(outputs);
  m_op.attributes = std::move(attributes);
  m_op.in_place = std::move(in_place);
  // What these ops update they read as well, as the graph of a run says of each op.
  constexpr std::array updating = {OpKind::accumulate, OpKind::tree_sum, OpKind::adamw};
  if (std::ranges::find(updating, kind) == updating.end()) return;
  for (std::size_t i = 0; i < m_op.outputs.size(); ++i)
    if (is_present(m_op.outputs[i])) m_op.in_place.push_back(static_cast<int>(i));
}

void KernelHarness::set_all(View const& view, std::vector<double> const& values) {
  auto const dtype = m_graph.tensor(view).dtype;
  auto* const bytes = m_contents[index(view.tensor)].data();
  auto next = values.begin();
  for_each_position(view, [&](std::int64_t position) {
    write(bytes + position * size_bytes(dtype), dtype, *next++);
  });
}

void KernelHarness::set(View const& view, std::int64_t element, double value) {
  auto all = values(m_contents, view);
  all[index(element)] = value;
  set_all(view, all);
}

void KernelHarness::fill_normal(View const& view, double deviation, double mean) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values(index(element_count(view.shape)));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  set_all(view, values);
}

void KernelHarness::fill_integers(View const& view, std::int64_t first, std::int64_t last) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  std::uniform_int_distribution<std::int64_t> uniform(first, last - 1);
  std::vector<double> values(index(element_count(view.shape)));
  std::generate(values.begin(), values.end(), [&] { return static_cast<double>(uniform(random)); });
  set_all(view, values);
}

void KernelHarness::fill_random_bits(View const& view) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  for (auto& byte : m_contents[index(view.tensor)]) byte = static_cast<std::byte>(random() >> 56);
}

// Puts guards around every tensor.
KernelHarness::Contents KernelHarness::guarded_contents() const {
  Contents contents;
  for (auto const& bytes : m_contents) contents.push_back(guarded(bytes));
  return contents;
}

KernelHarness::Contents KernelHarness::without_guards(Contents contents) const {
  for (auto const& tensor : m_graph.tensors) {
    auto& bytes = contents[index(tensor.id)];
    bytes = unguarded(bytes, tensor.name);
  }
  return contents;
}

template <class Copies>
std::vector<void*> KernelHarness::pointers(Copies const& copies, void* workspace) const {
  std::vector<void*> operands;
  auto const add = [&](View const& view) {
    if (!is_present(view)) return operands.push_back(nullptr);
    auto const first = view.offset * size_bytes(m_graph.tensor(view).dtype);
    operands.push_back(copies.at(index(view.tensor), kGuardBytes + first));
  };
  for (auto const& view : m_op.inputs) add(view);
  for (auto const& view : m_op.outputs) add(view);
  operands.push_back(m_op.workspace_bytes > 0 ? workspace : nullptr);
  return operands;
}

KernelHarness::Contents KernelHarness::run_one(Launch const& launch, Exec const& exec) const {
  HostCopies const copies(guarded_contents());
  HostCopies const workspace({guarded(Bytes(index(m_op.workspace_bytes), kPoison))});
  auto const operands = pointers(copies, workspace.at(0, kGuardBytes));
  if (m_launching) m_launching(true);
  launch(exec, operands.data());
  if (m_launching) m_launching(false);
  exec.fence();
  unguarded(workspace.read()[0], "the workspace");
  return without_guards(copies.read());
}

// The device's table has another kernel for the op. The workspace, which may be large, has no
// guards of its own: before it lies that of the last tensor.
KernelHarness::Contents KernelHarness::run_on(KernelDevice const& device) {
  auto const& table = device.kernels();
  m_graph.arithmetic.isa = device.target();
  if (table.choose_products != nullptr)
    m_graph.arithmetic.products =
        table.choose_products(this->context(), {&m_op, 1}, device.name(), {});
  auto const context = this->context();
  m_op.workspace_bytes = workspace_bytes(context, m_op);
  auto const launch = table.of(m_op.kind).bind(context, m_op);
  DeviceCopies const copies(device, guarded_contents(), m_op.workspace_bytes);
  auto const operands = pointers(copies, copies.at(m_contents.size(), 0));
  device.run([&](Exec const& exec) { launch(exec, operands.data()); });
  return without_guards(copies.read());
}

void KernelHarness::run(Kernel const& kernel, int threads) {
  auto const* const device = kernel_device();
  if (device == nullptr) return run(kernel, *other_instance(threads));
  m_kernel = run_on(*device);
  run_reference(kernel);
}

void KernelHarness::run(Kernel const& kernel, Exec const& exec) {
  auto const context = this->context();
  m_op.workspace_bytes = kernel.workspace_bytes ? kernel.workspace_bytes(context, m_op) : 0;
  std::optional<KernelWatch> watch;
  // A KernelWatch makes Kokkos allocate. So there is none if the test observes launches, because it
  // may count allocations.
  if (!m_launching && dynamic_cast<host::SpaceExec const*>(&exec) != nullptr) watch.emplace(exec);
  m_kernel = run_one(kernel.bind(context, m_op), exec);
  if (watch) {
    EXPECT_EQ(watch->stray(), "") << "runs elsewhere than on the given instance, or has no label";
    watch.reset();
  }
  run_reference(kernel);
}

void KernelHarness::run_reference(Kernel const& kernel) {
  auto const context = this->context();
  Exec const alone;
  m_serial = m_pool ? run_one(kernel.serial(context, m_op), Exec(*m_pool))
                    : run_one(kernel.serial(context, m_op), alone);
  expect_untouched(m_kernel, "the kernel");
  expect_untouched(m_serial, "the serial reference");
}

void KernelHarness::expect_untouched(Contents const& after, std::string const& who) const {
  for (auto const& tensor : m_graph.tensors) {
    auto const id = index(tensor.id);
    auto const size = index(size_bytes(tensor.dtype));
    auto expected = m_contents[id];
    for (auto const& output : present(m_op.outputs)) {
      if (output.tensor != tensor.id) continue;
      for_each_position(output, [&](std::int64_t p) {
        std::copy_n(after[id].begin() + p * static_cast<std::int64_t>(size), size,
                    expected.begin() + p * static_cast<std::int64_t>(size));
      });
    }
    EXPECT_TRUE(after[id] == expected)
        << who << " wrote to " << tensor.name << " outside the op's outputs";
  }
}

void KernelHarness::keep_results() {
  m_contents = m_kernel;
}

double KernelHarness::value(Contents const& contents, View const& view,
                            std::int64_t element) const {
  return values(contents, view)[index(element)];
}

std::vector<double> KernelHarness::values(Contents const& contents, View const& view) const {
  auto const dtype = m_graph.tensor(view).dtype;
  auto const* const bytes = contents[index(view.tensor)].data();
  std::vector<double> all;
  for_each_position(view, [&](std::int64_t position) {
    all.push_back(read(bytes + position * size_bytes(dtype), dtype));
  });
  return all;
}

void KernelHarness::expect_close(View const& view, double absolute, double relative) const {
  auto const mine = values(m_kernel, view), reference = values(m_serial, view);
  auto const text = std::string(name(m_op.kind)) + ", " + m_graph.tensor(view).name;
  EXPECT_FALSE(has_poison(view)) << text << ": elements were not written";
  for (std::size_t i = 0; i < mine.size(); ++i) {
    bool const both_nan = std::isnan(mine[i]) && std::isnan(reference[i]);
    bool const close =
        mine[i] == reference[i] || both_nan ||
        std::abs(mine[i] - reference[i]) <= absolute + relative * std::abs(reference[i]);
    ASSERT_TRUE(close) << text << ", element " << i << " of " << mine.size() << ": kernel "
                       << mine[i] << ", serial reference " << reference[i];
  }
}

bool KernelHarness::has_poison(View const& view) const {
  auto const size = size_bytes(m_graph.tensor(view).dtype);
  bool found = false;
  for_each_position(view, [&](std::int64_t position) {
    auto const* const at = m_kernel[index(view.tensor)].data() + position * size;
    found = found || std::all_of(at, at + size, [](std::byte b) { return b == kPoison; });
  });
  return found;
}

void KernelHarness::expect_same_bytes(View const& view) const {
  auto const id = index(view.tensor);
  EXPECT_TRUE(m_kernel[id] == m_serial[id])
      << name(m_op.kind) << ": " << m_graph.tensors[id].name
      << " differs between the kernel and the serial reference";
}

}  // namespace spillway::test
