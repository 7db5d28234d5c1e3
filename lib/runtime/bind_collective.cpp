#include <vector>

#include "comm/comm.hpp"
#include "graph/gradient_slice.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// Returns which bytes of the item's gradient each rank sums.
std::vector<ByteSlice> slices(Program const& program, Item const& item, int ranks) {
  auto const tensor = operand(program, item, 0).tensor;
  auto const& gradient = program.tensors[static_cast<std::size_t>(tensor)];
  auto const element = size_bytes(gradient.dtype);
  std::vector<ByteSlice> result;
  for (int rank = 0; rank < ranks; ++rank) {
    auto const slice = gradient_slice(element_count(gradient.shape), rank, ranks);
    result.push_back({slice.first * element, slice.count * element});
  }
  return result;
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
  auto const gradient = versions(parts.tiers, operand(parts.program, item, 0));
  auto const received = versions(parts.tiers, operand(parts.program, item, 1));
  return [&comm = parts.comm, gradient, received,
          ranges = slices(parts.program, item, parts.comm.size())](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    comm.all_to_all(gradient[i], received[i], ranges);
  };
}

Action bind_all_gather(EngineParts const& parts, Item const& item) {
  if (operand(parts.program, item, 0).tensor == parts.program.known.norms)
    return GatherNorms(parts, item);
  auto const gradient = versions(parts.tiers, operand(parts.program, item, 0));
  return [&comm = parts.comm, gradient,
          ranges = slices(parts.program, item, parts.comm.size())](ItemContext const& now) {
    comm.all_gather(gradient[static_cast<std::size_t>(now.parity)], ranges);
  };
}

}  // namespace spillway
