// Compares what the kernel of a KernelHarness has written with what its serial reference has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/element_bytes.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/support/view_positions.hpp"

namespace spillway::test {

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
