#include "profile/operand_memory.hpp"

#include <algorithm>
#include <cstring>

namespace spillway {
namespace {

constexpr auto kName = "memory for measurements";

}  // namespace

void OperandMemory::need(std::int64_t bytes) {
  // The old memory is given back first, since there may be no room for both.
  if (m_device != nullptr) {
    if (m_there && m_there->bytes() >= bytes) return;
    m_there.reset();
    m_there = m_device->reserve(kName, bytes, bytes);
  } else if (std::ssize(m_pages.all()) < bytes) {
    m_pages = Pages();
    m_pages = Pages(static_cast<std::size_t>(bytes), kName);
  }
}

void* OperandMemory::at(std::int64_t offset) const {
  if (m_device != nullptr) return m_there->at(offset, m_there->bytes() - offset).operand();
  return m_pages.data() + offset;
}

void OperandMemory::repeat(HostBytes pattern, std::int64_t offset, std::int64_t bytes) {
  auto const once = std::min(std::ssize(pattern), bytes);
  if (once == 0) return;
  if (m_device == nullptr) {
    for (std::int64_t done = 0; done < bytes; done += once)
      std::memcpy(m_pages.data() + offset + done, pattern.data(),
                  static_cast<std::size_t>(std::min(once, bytes - done)));
    return;
  }
  auto const all = m_there->at(offset, bytes);
  m_device->copy(all.part(0, once), pattern.first(static_cast<std::size_t>(once)));
  for (auto done = once; done < bytes;) {  // the part that is filled doubles each time
    auto const more = std::min(done, bytes - done);
    m_device->copy(all.part(done, more), all.part(0, more));
    done += more;
  }
}

}  // namespace spillway
