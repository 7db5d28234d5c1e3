#include "plan/listing/references.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace spillway {

namespace {

constexpr std::int64_t kMostMicroBatches = std::int64_t{1} << 20,
                       kMostRanks = std::int64_t{1} << 24;
constexpr std::size_t kMostOperands = 64, kMostAxes = 8;  // traffic of an op stays below 2^63

// Of the elements, if each extent is one.
std::optional<std::int64_t> bytes_of(Shape const& shape, DType dtype) {
  std::optional<std::int64_t> bytes = size_bytes(dtype);
  for (auto const extent : shape)
    bytes = bytes && extent > 0 ? product({*bytes, extent}) : std::nullopt;
  return bytes && *bytes <= kMostBytes && shape.size() <= kMostAxes ? bytes : std::nullopt;
}

class References {
 public:
  explicit References(Program const& program) : m_program(program) {}

  std::string first_fault() {
    check_numbers();
    check_list("tensors", m_program.tensors, [&](Tensor const& tensor) { check(tensor); });
    check_list("ops", m_program.ops, [&](Op const& op) { check(op); });
    check_list("chunks", m_program.chunks, [&](Chunk const& chunk) { check(chunk); });
    check_list("buffers", m_program.buffers, [&](Buffer const& buffer) { check(buffer); });
    check_list("items", m_program.items, [&](Item const& item) { check(item); });
    if (m_fault.empty()) check_sums();
    return m_fault;
  }

 private:
  template <class T>
  void check_list(char const* list, std::vector<T> const& values, auto const& check_one) {
    for (std::size_t i = 0; i < values.size() && m_fault.empty(); ++i) {
      m_at = fmt::format("{}[{}]", list, i);
      check_one(values[i]);
    }
  }

  void require(bool holds, std::string_view what) {
    if (!holds && m_fault.empty()) m_fault = fmt::format("{}: {}", m_at, what);
  }
  bool is_tensor(TensorId id) const {
    return 0 <= id && id < static_cast<TensorId>(m_program.tensors.size());
  }
  void require_tensor(TensorId id, bool may_be_none) {
    require(is_tensor(id) || (may_be_none && id == -1),
            fmt::format("names tensor {}, which does not exist", id));
  }

  void check_numbers() {
    m_at = "micro_batches";
    require(m_program.micro_batches >= 1 && m_program.micro_batches <= kMostMicroBatches,
            fmt::format("must be 1 to {}", kMostMicroBatches));
    m_at = "ranks";
    require(m_program.ranks >= 1 && m_program.ranks <= kMostRanks,
            fmt::format("must be 1 to {}", kMostRanks));
    m_at = "segments";
    auto const middles = std::ranges::count_if(
        m_program.segments, [](Segment const& segment) { return segment.is_middle(); });
    require(middles <= 1, "more than one is called middle");
    for (Segment const& segment : m_program.segments)
      require(segment.first < segment.last, fmt::format("'{}' has no items", segment.name));
    m_at = "known";
    auto const& known = m_program.known;
    for (TensorId const id : {known.logits, known.loss, known.norms, known.control})
      require_tensor(id, true);
    for (BatchTensor const& batch : known.batch) require_tensor(batch.tensor, false);
  }

  void check(Tensor const& tensor) {
    require(tensor.id == &tensor - m_program.tensors.data(), "has another id than its place");
    require(bytes_of(tensor.shape, tensor.dtype).has_value(), "has an impossible shape");
    require(tensor.versions == 1 || tensor.versions == 2, "must have 1 or 2 versions");
  }

  void check(View const& view) {
    require_tensor(view.tensor, false);
    if (!m_fault.empty()) return;
    auto const dtype = m_program.tensors[view.tensor].dtype;
    require(bytes_of(view.shape, dtype) && view.strides.size() == view.shape.size(),
            "has a view of an impossible shape");
  }

  void check(Op const& op) {
    require(op.inputs.size() <= kMostOperands && op.outputs.size() <= kMostOperands,
            "has too many operands");
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : present(*views)) check(view);
    }
    require(op.in_place.size() <= op.outputs.size(), "has more outputs in place than outputs");
    for (int const output : op.in_place) {
      bool const is_there = 0 <= output && output < static_cast<int>(op.outputs.size());
      require(is_there && is_present(op.outputs[output]),
              fmt::format("has no output {} to be in place", output));
    }
    bool const has_first = !op.inputs.empty() && is_present(op.inputs[0]);
    require(op.flops >= 0 && op.flops <= 1e24, "has impossible flops");
    require(has_first || (op.flops == 0 && op.kind != OpKind::tree_sum), "has no first input");
    require(op.kind != OpKind::tree_sum || !has_first || !op.inputs[0].shape.empty(),
            "sums what is one number");
    require(op.workspace_bytes >= 0, "has an impossible workspace");
  }

  void check(Chunk const& chunk) {
    for (TensorId const id : {chunk.parameter, chunk.gradient}) require_tensor(id, true);
    for (State const& state : chunk.states) require_tensor(state.tensor, true);
    for (Parameter const& parameter : chunk.parameters) check(parameter.view);
  }

  void check(Buffer const& buffer) {
    require_tensor(buffer.tensor, m_program.once);  // slots of a move hold any
    require(buffer.bytes >= 0 && buffer.stride >= 0, "has an impossible size");
  }

  void check(Item const& item) {
    auto const items = static_cast<std::int64_t>(m_program.items.size());
    require(item.horizon >= item.number && item.horizon <= 2 * items, "has an impossible horizon");
    for (auto const* accesses : {&item.reads, &item.writes}) {
      for (Access const& access : *accesses) {
        for (ItemNumber const writer : access.writers)
          require(0 <= writer && writer < items,
                  fmt::format("expects bytes of item {}, which does not exist", writer));
      }
    }
  }

  // Times are sums of what all ranks' items move in a step.
  void check_sums() {
    m_at = "items";
    std::int64_t moved = 0;
    for (Segment const& segment : m_program.segments) {
      std::int64_t once = 0;
      for (auto i = std::max(0, segment.first); i < segment.last && i < std::ssize(m_program.items);
           ++i) {
        for (Access const& write : m_program.items[i].writes)
          once = clamped_sum(once, std::max<std::int64_t>(0, write.last - write.first));
      }
      moved = clamped_sum(moved, clamped_product(once, times_a_step(m_program, segment)));
    }
    require(clamped_product(moved, m_program.ranks) < std::numeric_limits<std::int64_t>::max(),
            "move more bytes in a step than 63 bits count");
  }

  Program const& m_program;
  std::string m_at, m_fault;
};

}  // namespace

std::string wrong_reference(Program const& program) {
  return References(program).first_fault();
}

}  // namespace spillway
