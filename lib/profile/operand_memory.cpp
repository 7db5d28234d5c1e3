#include "profile/operand_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/math.hpp"

namespace spillway {
namespace {

constexpr auto kName = "memory for measurements";

std::int64_t page_bytes() {
  return ::sysconf(_SC_PAGESIZE);
}

}  // namespace

void OperandMemory::need(std::int64_t bytes) {
  // The old memory is given back first, since there may be no room for both.
  if (m_device != nullptr) {
    if (m_there && m_there->bytes() >= bytes) return;
    m_there.reset();
    m_there = m_device->reserve(kName, bytes, bytes);
  } else if (std::ssize(m_pages.all()) < bytes) {
    m_pinned.reset();
    m_pages = Pages();
    m_pages = Pages(static_cast<std::size_t>(round_up(bytes, page_bytes())), kName);
    if (m_shared_with != nullptr) m_pinned = m_shared_with->pin(m_pages.all());
  }
}

void* OperandMemory::at(std::int64_t offset) const {
  if (m_device != nullptr) return m_there->at(offset, m_there->bytes() - offset).operand();
  auto const bytes = m_pages.all().subspan(static_cast<std::size_t>(offset));
  return m_shared_with != nullptr ? m_shared_with->on_device(bytes).operand() : bytes.data();
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
