#include <cstring>
#include <vector>

#include "comm/comm.hpp"
#include "plan/data/exchange.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// Returns the bytes of `slice(rank)` for each rank of `group`.
std::vector<ByteSlice> slices(RankRange const& group, DType dtype, auto const& slice) {
  auto const element_bytes = size_bytes(dtype);
  std::vector<ByteSlice> result;
  for (std::int64_t number = 0; number < group.count; ++number) {
    Slice const of_rank = slice(group.rank(number));
    result.push_back({of_rank.first * element_bytes, of_rank.count * element_bytes});
  }
  return result;
}

// Returns which bytes of a gradient each rank sums.
std::vector<ByteSlice> summed_slices(Program const& program, Item const& item,
                                     Tensor const& gradient) {
  auto const sharing = sharing_of(program, item.chunk);
  return slices(all_ranks(program.ranks), gradient.dtype, [&](std::int64_t rank) {
    return sharing.summed(element_count(gradient.shape), rank);
  });
}

// Returns which bytes of `whole` each rank of the group brings: of parameters what it keeps, of
// what ranks keep of a gradient what it has summed.
std::vector<ByteSlice> brought_slices(Program const& program, Item const& item,
                                      RankRange const& group, Tensor const& whole) {
  auto const sharing = sharing_of(program, item.chunk);
  bool const of_kept = sharing.sharers > 1;
  auto const elements = of_kept ? program.chunks[item.chunk].elements : element_count(whole.shape);
  bool const parameters = gathers_parameters(program, item);
  return slices(group, whole.dtype, [&](std::int64_t rank) {
    return parameters ? sharing.kept(elements, rank) : sharing.summed_of_kept(elements, rank);
  });
}

HostBytes part(HostBytes bytes, ByteSlice const& range) {
  return bytes.subspan(static_cast<std::size_t>(range.first),
                       static_cast<std::size_t>(range.bytes));
}

void copy_bytes(HostBytes to, HostBytes from) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

// Gathers the norms of chunks that ranks share out, of which there is a row for each. A rank knows
// those of the slices that it keeps, brings that of the slice that it has summed, and gets those of
// the slices that others keep.
class GatherNorms {
 public:
  GatherNorms(EngineParts const& parts, Item const& item)
      : m_comm(parts.comm), m_norms(versions(parts.tiers, operand(parts.program, item, 0))) {
    auto const ranks = parts.program.ranks;
    for (Chunk const& chunk : parts.program.chunks)
      if (chunk.is_shared_out()) m_rows.push_back({chunk.norm * ranks, {ranks, chunk.sharers}});
    m_own.resize(m_rows.size());
    m_all.resize(m_rows.size() * static_cast<std::size_t>(m_comm.size()));
  }

  void operator()(ItemContext const& now) {
    auto* const norms =
        reinterpret_cast<double*>(m_norms[static_cast<std::size_t>(now.parity)].data());
    int const own = m_comm.rank();
    for (std::size_t i = 0; i < m_rows.size(); ++i) m_own[i] = norms[m_rows[i].norm_of(own)];
    m_comm.all_gather_bytes(std::as_bytes(std::span(m_own)),
                            std::as_writable_bytes(std::span(m_all)));
    for (std::size_t entry = 0; entry < m_all.size(); ++entry) {
      auto const rank = static_cast<int>(entry / m_rows.size());
      Row const& row = m_rows[entry % m_rows.size()];
      if (!row.sharing.keepers_of(own).has(rank)) norms[row.norm_of(rank)] = m_all[entry];
    }
  }

 private:
  struct Row {
    std::int64_t first;  // where the row begins, in elements of the norms
    Sharing sharing;

    std::int64_t norm_of(int rank) const { return first + sharing.summed_number(rank); }
  };

  Comm& m_comm;
  std::array<std::span<std::byte>, 2> m_norms;
  std::vector<Row> m_rows;
  std::vector<double> m_own, m_all;  // m_all: all values of rank 0, then those of rank 1, ...
};

}  // namespace

Action bind_all_to_all(EngineParts const& parts, Item const& item) {
  auto const& program = parts.program;
  auto const gradient = versions(parts.tiers, operand(program, item, 0));
  auto const received = versions(parts.tiers, operand(program, item, 1));
  bool const keeps_own = sharing_of(program, item.chunk).sharers > 1;
  auto const& tensor = program.tensors[operand(program, item, 0).tensor];
  return [&comm = parts.comm, gradient, received, keeps_own,
          ranges = summed_slices(program, item, tensor)](ItemContext const& now) {
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
  auto const& program = parts.program;
  auto const& to = operand(program, item, 1);
  auto const own = versions(parts.tiers, operand(program, item, 0));
  auto const whole = versions(parts.tiers, to);
  bool const brings_own = item.operands[0] != item.operands[1];
  auto const group = exchange_group(program, item, parts.comm.rank());
  auto const number = static_cast<std::size_t>(group.number_of(parts.comm.rank()));
  return [&comm = parts.comm, own, whole, brings_own, group, number, go = go_words(parts, item),
          ranges = brought_slices(program, item, group, program.tensors[to.tensor])](
             ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    // All ranks have the same word. What has failed on this rank alone does not count here.
    if (go[i] != nullptr && *go[i] != 1) return;
    auto const& range = ranges[number];
    if (brings_own)
      copy_bytes(part(whole[i], range), own[i].first(static_cast<std::size_t>(range.bytes)));
    comm.all_gather(whole[i], ranges, group);
  };
}

}  // namespace spillway
