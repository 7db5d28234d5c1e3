#include <cstring>
#include <vector>

#include "comm/comm.hpp"
#include "graph/gradient_slice.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// Returns which bytes of a tensor, which has a chunk's elements, each rank has or sums.
std::vector<ByteSlice> slices(Program const& program, TensorId tensor, int ranks) {
  auto const& gradient = program.tensors[static_cast<std::size_t>(tensor)];
  auto const element = size_bytes(gradient.dtype);
  std::vector<ByteSlice> result;
  for (int rank = 0; rank < ranks; ++rank) {
    auto const slice = gradient_slice(element_count(gradient.shape), rank, ranks);
    result.push_back({slice.first * element, slice.count * element});
  }
  return result;
}

HostBytes part(HostBytes bytes, ByteSlice const& range) {
  return bytes.subspan(static_cast<std::size_t>(range.first),
                       static_cast<std::size_t>(range.bytes));
}

void copy_bytes(HostBytes to, HostBytes from) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

// Gathers norms. In each row of norms that the item writes, every rank has an entry of its own and
// gets those of the other ranks. Other rows are not touched.
class GatherNorms {
 public:
  GatherNorms(EngineParts const& parts, Item const& item)
      : m_comm(parts.comm), m_norms(versions(parts.tiers, operand(parts.program, item, 0))) {
    auto const row_bytes = std::int64_t{m_comm.size()} * size_bytes(DType::f64);
    for (Access const& rows : item.writes)
      for (auto at = rows.first; at < rows.last; at += row_bytes)
        m_rows.push_back(static_cast<std::size_t>(at) / sizeof(double));
    m_own.resize(m_rows.size());
    m_all.resize(m_rows.size() * static_cast<std::size_t>(m_comm.size()));
  }

  void operator()(ItemContext const& now) {
    auto* const norms =
        reinterpret_cast<double*>(m_norms[static_cast<std::size_t>(now.parity)].data());
    auto const rank = static_cast<std::size_t>(m_comm.rank());
    for (std::size_t i = 0; i < m_rows.size(); ++i) m_own[i] = norms[m_rows[i] + rank];
    m_comm.all_gather_bytes(std::as_bytes(std::span(m_own)),
                            std::as_writable_bytes(std::span(m_all)));
    for (std::size_t entry = 0; entry < m_all.size(); ++entry)
      norms[m_rows[entry % m_rows.size()] + entry / m_rows.size()] = m_all[entry];
  }

 private:
  Comm& m_comm;
  std::array<std::span<std::byte>, 2> m_norms;
  std::vector<std::size_t> m_rows;   // where rows begin, in elements of the norms
  std::vector<double> m_own, m_all;  // m_all: all values of rank 0, then those of rank 1, ...
};

}  // namespace

Action bind_all_to_all(EngineParts const& parts, Item const& item) {
  auto const& program = parts.program;
  auto const gradient = versions(parts.tiers, operand(program, item, 0));
  auto const received = versions(parts.tiers, operand(program, item, 1));
  bool const keeps_own =
      item.chunk >= 0 && program.chunks[static_cast<std::size_t>(item.chunk)].is_shared_out();
  auto const tensor = operand(program, item, 0).tensor;
  return [&comm = parts.comm, gradient, received, keeps_own,
          ranges = slices(program, tensor, parts.comm.size())](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    comm.all_to_all(gradient[i], received[i], ranges);
    if (!keeps_own) return;
    auto const rank = static_cast<std::size_t>(comm.rank());
    auto const row = received[i].size() / ranges.size();
    copy_bytes(received[i].subspan(rank * row, row), part(gradient[i], ranges[rank]));
  };
}

Action bind_all_gather(EngineParts const& parts, Item const& item) {
  if (operand(parts.program, item, 0).tensor == parts.program.known.norms)
    return GatherNorms(parts, item);
  auto const& to = operand(parts.program, item, 1);
  auto const own = versions(parts.tiers, operand(parts.program, item, 0));
  auto const whole = versions(parts.tiers, to);
  bool const brings_own = item.operands[0] != item.operands[1];
  return [&comm = parts.comm, own, whole, brings_own, go = go_words(parts, item),
          ranges = slices(parts.program, to.tensor, parts.comm.size())](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    // All ranks have the same word. What has failed on this rank alone does not count here.
    if (go[i] != nullptr && *go[i] != 1) return;
    auto const& range = ranges[static_cast<std::size_t>(comm.rank())];
    if (brings_own)
      copy_bytes(part(whole[i], range), own[i].first(static_cast<std::size_t>(range.bytes)));
    comm.all_gather(whole[i], ranges);
  };
}

}  // namespace spillway
