#include "io/ring/transfer_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"

namespace spillway {
namespace {

constexpr std::string_view kQueue = "the queue of transfers";

constexpr double kLongestWait_s = 1e9;  // longer times may overflow 63 bits of nanoseconds

}  // namespace

TransferQueue::TransferQueue(int depth) : m_operations(static_cast<std::size_t>(depth)) {
  check(depth > 0, kQueue, "has room for nothing");
  m_free.reserve(m_operations.size());
  for (int i = depth; i-- > 0;) m_free.push_back(i);
}

void TransferQueue::submit(TransferRequest const& request) noexcept {
  check(!full() && !request.memory.empty(), kQueue, "is full, or asked to move nothing");
  auto const operation = m_free.back();
  m_free.pop_back();
  m_operations[static_cast<std::size_t>(operation)] = {
      request, static_cast<std::int64_t>(request.memory.size()), SteadyClock::now(), true};
  start(operation, request);
}

std::optional<TransferDone> TransferQueue::wait(double timeout_s) noexcept {
  auto const begun = SteadyClock::now();
  while (in_flight() > 0) {
    auto const outcome = next(std::clamp(timeout_s - seconds_since(begun), 0.0, kLongestWait_s));
    if (!outcome) return {};
    if (auto const error = advance(*outcome)) {
      auto& operation = m_operations[static_cast<std::size_t>(outcome->operation)];
      operation.busy = false;
      m_free.push_back(outcome->operation);
      return TransferDone{operation.rest.tag, *error};
    }
  }
  return {};
}

std::optional<int> TransferQueue::advance(Outcome const& outcome) noexcept {
  auto& rest = m_operations[static_cast<std::size_t>(outcome.operation)].rest;
  auto const moved = outcome.moved_bytes;
  check(moved <= static_cast<std::int64_t>(rest.memory.size()), kQueue,
        "has moved more than was asked for");
  if (moved < 0 && moved != -EINTR && moved != -EAGAIN) return static_cast<int>(-moved);
  if (moved == 0) return EIO;  // a transfer of no bytes means that the file has ended
  if (moved > 0) {
    rest.memory = rest.memory.subspan(static_cast<std::size_t>(moved));
    rest.offset_bytes += moved;
    if (rest.memory.empty()) return 0;
  }
  start(outcome.operation, rest);
  return {};
}

std::string TransferQueue::outstanding(Where const& where) const {
  std::vector<Operation const*> busy;
  for (auto const& operation : m_operations)
    if (operation.busy) busy.push_back(&operation);
  std::ranges::sort(busy, {}, [](auto const* operation) { return operation->begun; });
  std::string text;
  for (auto const* operation : busy) {
    auto const& rest = operation->rest;
    auto const moved = operation->bytes - static_cast<std::int64_t>(rest.memory.size());
    text +=
        fmt::format("{}{} of {} bytes at {}{} for {:.1f} s", text.empty() ? "" : ", ",
                    rest.direction == Direction::read ? "read" : "write", operation->bytes,
                    rest.offset_bytes - moved, where(rest.file), seconds_since(operation->begun));
  }
  return text;
}

}  // namespace spillway
