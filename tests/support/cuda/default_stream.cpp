#include "tests/support/cuda/default_stream.hpp"

#include <memory>

namespace spillway::test::cuda {
namespace {

// A wait that the default stream implies is no moment of the stream for which it waits.
void let_wait(State& all, int waiter, int other) {
  auto& stream = *all.queues.stream(other);
  auto const record = std::make_shared<Record>();
  record->stream = other;
  record->mark = stream.clock.now();
  stream.pieces.push_back({.kind = Piece::Kind::record, .label = "record", .record = record});
  auto& waiting = *all.queues.stream(waiter);
  waiting.clock.acquire(record->mark.before);
  waiting.pieces.push_back({.kind = Piece::Kind::wait, .label = "wait", .record = record});
}

template <class F>
void for_each_blocking_stream(State& all, int device, F const& f) {
  for (auto const& [id, stream] : all.queues.streams())
    if (stream.blocks && stream.device == device) f(id);
}

}  // namespace

int default_stream(State& all) {
  auto const device = thread_state().device;
  auto result = all.queues.default_stream(device);
  if (result < 0) {
    result = all.queues.add_stream(device, all.next_component++);
    all.queues.stream(result)->is_default = true;
  }
  for_each_blocking_stream(all, device, [&](int id) { let_wait(all, result, id); });
  return result;
}

void let_blocking_streams_wait(State& all, int default_stream) {
  for_each_blocking_stream(all, all.queues.stream(default_stream)->device,
                           [&](int id) { let_wait(all, id, default_stream); });
}

}  // namespace spillway::test::cuda
