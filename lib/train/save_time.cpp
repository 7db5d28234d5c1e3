#include "train/save_time.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/math.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "graph/sharing.hpp"

namespace spillway {
namespace {

constexpr double kGuessGbps = 0.5;  // an ordinary rate of a shared file system

// Returns the bytes of a chunk's parameters and states, which are saved in the types that a run
// keeps them in.
std::int64_t saved_bytes(Graph const& graph, Chunk const& chunk) {
  std::int64_t bytes = 0;
  auto const add = [&](TensorId id) {
    auto const& tensor = graph.tensors[id];
    for (auto const& part : chunk.parts_of(id))
      bytes += (part.last - part.first) * size_bytes(tensor.dtype);
    if (!chunk.parts_of(id).empty()) return;
    auto const block = block_elements(chunk, 1, tensor);
    for (auto const& parameter : chunk.parameters)
      bytes += div_ceil(element_count(parameter.view.shape), block) * size_bytes(tensor.dtype);
  };
  add(chunk.parameter);
  for (auto const& state : chunk.states) add(state.tensor);
  return bytes;
}

}  // namespace

SaveEstimate estimate_save(Graph const& train, bool leaves_base, Machine const& machine,
                           std::int64_t ranks) {
  SaveEstimate estimate;
  for (auto const& chunk : train.chunks)
    if (chunk.trainable || !leaves_base) estimate.bytes += saved_bytes(train, chunk);
  estimate.is_measured = machine.nvme_write_gbps > 0;
  auto const writers = static_cast<double>(std::min(ranks, machine.node_ranks));
  estimate.gbps = estimate.is_measured ? writers * machine.nvme_write_gbps : kGuessGbps;
  return estimate;
}

std::string describe(SaveEstimate const& estimate) {
  auto const line = fmt::format(
      "A checkpoint of {} takes about {}: an estimate at {} GB/s, {}.", human_bytes(estimate.bytes),
      human_duration(estimate.seconds()), human_number(estimate.gbps, 3),
      estimate.is_measured ? "the rate of the drive for spill files" : "a guess");
  return "\n" + wrapped_line(line, "");
}

void SaveTime::add(double seconds) {
  m_estimate_s = 0;
  add_failed(seconds);
}

void SaveTime::add_failed(double seconds) {
  m_longest_s = std::max(m_longest_s, seconds);
  m_total_s += seconds;
}

}  // namespace spillway
