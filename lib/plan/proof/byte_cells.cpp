#include "plan/proof/byte_cells.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

namespace {

constexpr int kTierBits = 60;  // an address is a tier and an offset

std::vector<std::int64_t> by_layout(Program const& program) {
  std::vector<std::int64_t> addresses;
  for (Buffer const& buffer : program.buffers) {
    auto const tier = static_cast<std::int64_t>(buffer.tier) << kTierBits;
    for (int version = 0; version < 2; ++version)
      addresses.push_back(tier + buffer.offset + version % buffer.versions * buffer.stride);
  }
  return addresses;
}

std::vector<std::int64_t> one_after_the_other(Program const& program) {
  std::vector<std::int64_t> addresses;
  std::int64_t end = 0;
  for (Buffer const& buffer : program.buffers) {
    for (int version = 0; version < 2; ++version)
      addresses.push_back(end + version % buffer.versions * buffer.bytes);
    end += buffer.versions * buffer.bytes;
  }
  return addresses;
}

}  // namespace

ByteCells::ByteCells(Program const& program) : ByteCells(program, by_layout(program)) {}

ByteCells ByteCells::by_buffer(Program const& program) {
  return {program, one_after_the_other(program)};
}

ByteCells::ByteCells(Program const& program, Addresses addresses)
    : m_addresses(std::move(addresses)) {
  find_borders(program);
  for (auto const address : m_addresses) m_cells.push_back(find(0, address));
  find_ranges(program);
}

void ByteCells::find_borders(Program const& program) {
  for (Buffer const& buffer : program.buffers) add_borders(buffer, 0, buffer.bytes);
  for (Item const& item : program.items) {
    for (auto const* accesses : {&item.reads, &item.writes}) {
      for (Access const& access : *accesses) {
        Buffer const& buffer = program.buffers[access.buffer];
        bool const all = access.first == 0 && access.last == buffer.bytes;
        if (!all) add_borders(buffer, access.first, access.last);
      }
    }
  }
  std::ranges::sort(m_borders);
  m_borders.erase(std::unique(m_borders.begin(), m_borders.end()), m_borders.end());
}

void ByteCells::add_borders(Buffer const& buffer, std::int64_t first, std::int64_t last) {
  for (int version = 0; version < buffer.versions; ++version) {
    auto const at =
        m_addresses[2 * static_cast<std::size_t>(buffer.id) + static_cast<std::size_t>(version)];
    m_borders.push_back(at + first);
    m_borders.push_back(at + last);
  }
}

void ByteCells::find_ranges(Program const& program) {
  for (Item const& item : program.items) {
    m_first.push_back(m_ranges[0].size());
    for (auto const* accesses : {&item.reads, &item.writes}) {
      for (Access const& access : *accesses) {
        bool const versioned = program.buffers[access.buffer].versions > 1;
        m_ranges[0].push_back(range(access, 0));
        m_ranges[1].push_back(versioned ? range(access, 1) : m_ranges[0].back());
      }
    }
  }
}

// The cells of a buffer are few: strides from its first one.
std::size_t ByteCells::find(std::size_t from, std::int64_t border) const {
  auto const begin = m_borders.begin();
  std::size_t stride = 1;
  while (from + stride < m_borders.size() && m_borders[from + stride] <= border) stride *= 2;
  auto const low = static_cast<std::ptrdiff_t>(from + stride / 2);
  auto const high = static_cast<std::ptrdiff_t>(std::min(from + stride, m_borders.size() - 1));
  return static_cast<std::size_t>(std::lower_bound(begin + low, begin + high, border) - begin);
}

ByteCells::Range ByteCells::range(Access const& access, std::size_t version) const {
  auto const at = 2 * static_cast<std::size_t>(access.buffer) + version;
  auto const first = find(m_cells[at], m_addresses[at] + access.first);
  auto const last = find(first, m_addresses[at] + access.last);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

std::span<ByteCells::Range const> ByteCells::reads(Item const& item, int step) const {
  auto const& ranges = m_ranges[step % 2];
  return std::span(ranges).subspan(m_first[item.number], item.reads.size());
}

std::span<ByteCells::Range const> ByteCells::writes(Item const& item, int step) const {
  auto const& ranges = m_ranges[step % 2];
  return std::span(ranges).subspan(m_first[item.number] + item.reads.size(), item.writes.size());
}

ByteCells::Range ByteCells::all(Buffer const& buffer) const {
  return range({buffer.id, 0, buffer.bytes, {}}, 0);
}

ByteRange ByteCells::bytes(std::size_t cell) const {
  constexpr std::int64_t offset = (std::int64_t{1} << kTierBits) - 1;
  return {m_borders[cell] & offset, m_borders[cell + 1] & offset};
}

}  // namespace spillway
