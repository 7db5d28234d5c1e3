#include "plan/proof/byte_cells.hpp"

#include <algorithm>

namespace spillway {

namespace {

constexpr int kTierBits = 60;  // an address has an offset in these low bits, and a tier above

}  // namespace

ByteCells::ByteCells(Program const& program, bool by_layout) {
  std::int64_t end = 0;  // without a layout, buffers lie one after the other
  for (Buffer const& buffer : program.buffers) {
    auto const tier = static_cast<std::int64_t>(buffer.tier) << kTierBits;
    auto const first = by_layout ? tier + buffer.offset : end;
    auto const stride = by_layout ? buffer.stride : buffer.bytes;
    m_addresses.push_back({first, buffer.versions > 1 ? first + stride : first});
    end += buffer.versions * buffer.bytes;
  }
  find_borders(program);
  for (auto const& [even, odd] : m_addresses) m_cells.push_back({find(0, even), find(0, odd)});
  find_ranges(program);
}

void ByteCells::find_borders(Program const& program) {
  for (Buffer const& buffer : program.buffers) add_borders(buffer, 0, buffer.bytes);
  for (Item const& item : program.items) {
    for (Access const& access : accesses(item)) {
      Buffer const& buffer = program.buffers[access.buffer];
      bool const all = access.first == 0 && access.last == buffer.bytes;
      if (!all) add_borders(buffer, access.first, access.last);
    }
  }
  std::ranges::sort(m_borders);
  auto const [same, end] = std::ranges::unique(m_borders);
  m_borders.erase(same, end);
}

void ByteCells::add_borders(Buffer const& buffer, std::int64_t first, std::int64_t last) {
  for (int version = 0; version < buffer.versions; ++version) {
    auto const at = m_addresses[buffer.id][version];
    m_borders.insert(m_borders.end(), {at + first, at + last});
  }
}

void ByteCells::find_ranges(Program const& program) {
  for (Item const& item : program.items) {
    m_first.push_back(m_ranges[0].size());
    for (Access const& access : accesses(item)) {
      bool const versioned = program.buffers[access.buffer].versions > 1;
      m_ranges[0].push_back(range(access, 0));
      m_ranges[1].push_back(versioned ? range(access, 1) : m_ranges[0].back());
    }
  }
}

// Finds a border at or after `from`, in strides that double, because a buffer has few cells.
std::size_t ByteCells::find(std::size_t from, std::int64_t border) const {
  std::size_t stride = 1;
  while (from + stride < m_borders.size() && m_borders[from + stride] <= border) stride *= 2;
  auto const* low = &m_borders[from + stride / 2];
  auto const* high = &m_borders[std::min(from + stride, m_borders.size() - 1)];
  return std::lower_bound(low, high, border) - m_borders.data();
}

ByteCells::CellRange ByteCells::range(Access const& access, int version) const {
  auto const address = m_addresses[access.buffer][version];
  auto const first = find(m_cells[access.buffer][version], address + access.first);
  auto const last = find(first, address + access.last);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

std::span<ByteCells::CellRange const> ByteCells::reads(Item const& item, int step) const {
  return std::span(m_ranges[step % 2]).subspan(m_first[item.number], item.reads.size());
}

std::span<ByteCells::CellRange const> ByteCells::writes(Item const& item, int step) const {
  auto const first = m_first[item.number] + item.reads.size();
  return std::span(m_ranges[step % 2]).subspan(first, item.writes.size());
}

ByteCells::CellRange ByteCells::all(Buffer const& buffer) const {
  return range({buffer.id, 0, buffer.bytes, {}}, 0);
}

ByteRange ByteCells::bytes(std::size_t cell) const {
  constexpr std::int64_t offset = (std::int64_t{1} << kTierBits) - 1;
  return {m_borders[cell] & offset, m_borders[cell + 1] & offset};
}

}  // namespace spillway
