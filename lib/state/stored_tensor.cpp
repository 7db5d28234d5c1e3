#include "state/stored_tensor.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/math.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {

// A window consists of whole pieces of the spill file.
static_assert(kWindowElements % kSpillPieceBytes == 0);

StoredTensor::StoredTensor(Tiers const& tiers, Buffer const& buffer, DType dtype, bool is_there)
    : m_dtype(dtype), m_tiers(&tiers), m_offset_bytes(buffer.offset), m_bytes(buffer.bytes) {
  if (buffer.tier != Tier::nvme) {
    auto const bytes = memory_bytes(tiers, buffer, 0);
    if (auto const* const on_host = std::get_if<HostBytes>(&bytes)) {
      m_memory = on_host->data();
      return;
    }
    m_on_device = std::get<DeviceBytes>(bytes);
  }
  auto const windows = div_ceil(m_bytes, kWindowElements * size_bytes(dtype));
  bool const has_values = is_there || buffer.tier == Tier::device;
  m_written.resize(static_cast<std::size_t>(windows), has_values);
}

void StoredTensor::read(std::int64_t first_byte, HostBytes to) {
  if (m_on_device.size() > 0)
    return m_tiers->device.copy(to, m_on_device.part(first_byte, std::ssize(to)));
  if (m_tiers->spill->read(m_offset_bytes + first_byte, to) != IoResult::ok)
    throw Error(Status::storage, m_tiers->spill->first_failure());
}

void StoredTensor::write(std::int64_t first_byte, HostBytes from) {
  if (m_on_device.size() > 0)
    return m_tiers->device.copy(m_on_device.part(first_byte, std::ssize(from)), from);
  if (m_tiers->spill->write(m_offset_bytes + first_byte, from) != IoResult::ok)
    throw Error(Status::storage, m_tiers->spill->first_failure());
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
  auto const bytes = static_cast<std::size_t>(std::min(most, m_bytes - begin));
  Window window{number, false, Pages(bytes, "memory for state that is on NVMe")};
  if (m_written[static_cast<std::size_t>(number)]) read(begin, window.bytes.all());
  m_window = std::move(window);
}

void StoredTensor::flush() {
  if (m_window.changed) {
    auto const begin = m_window.number * kWindowElements * size_bytes(dtype());
    write(begin, m_window.bytes.all());
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
