#include "state/stored_tensor.hpp"

#include <algorithm>
#include <cassert>

#include "base/error.hpp"
#include "base/math.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {

// A window consists of whole pieces of the spill file.
static_assert(kWindowElements % kSpillPieceBytes == 0);

StoredTensor::StoredTensor(Tiers const& tiers, Buffer const& buffer, DType dtype, bool is_there)
    : m_dtype(dtype), m_offset_bytes(buffer.offset), m_bytes(buffer.bytes) {
  if (buffer.tier != Tier::nvme) {
    m_memory = buffer_bytes(tiers, buffer, 0).data();
    return;
  }
  m_spill = tiers.spill;
  auto const windows = div_ceil(m_bytes, kWindowElements * size_bytes(dtype));
  m_written.resize(static_cast<std::size_t>(windows), is_there);
}

std::byte* StoredTensor::at(std::int64_t first, bool changes) {
  auto const size = size_bytes(dtype());
  if (m_memory != nullptr) return m_memory + first * size;
  open(first / kWindowElements);
  m_window.changed = m_window.changed || changes;
  return m_window.bytes.data() + first % kWindowElements * size;
}

void StoredTensor::open(std::int64_t number) {
  if (m_window.number == number) return;
  flush();
  auto const most = kWindowElements * size_bytes(dtype());
  auto const begin = number * most;
  Window window{number, false, Pages(static_cast<std::size_t>(std::min(most, m_bytes - begin)))};
  bool const reads = m_written[static_cast<std::size_t>(number)];
  if (reads && m_spill->read(m_offset_bytes + begin, window.bytes.all()) != IoResult::ok)
    throw Error(Status::storage, m_spill->first_failure());
  m_window = std::move(window);
}

void StoredTensor::flush() {
  if (m_window.changed) {
    auto const begin = m_window.number * kWindowElements * size_bytes(dtype());
    if (m_spill->write(m_offset_bytes + begin, m_window.bytes.all()) != IoResult::ok)
      throw Error(Status::storage, m_spill->first_failure());
    m_written[static_cast<std::size_t>(m_window.number)] = true;
  }
  m_window = Window();
}

void StoredTensor::complete() {
  flush();
  for (std::size_t window = 0; window < m_written.size(); ++window) {
    if (m_written[window]) continue;
    at(static_cast<std::int64_t>(window) * kWindowElements, true);
  }
  flush();
}

}  // namespace spillway
