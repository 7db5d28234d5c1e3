#include "tests/support/cuda/queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace spillway::test::cuda {

void Queues::restart(Settings const& settings) {
  m_random.seed(settings.seed);
  m_laziness = settings.laziness;
  m_latest = -1;
  auto const one_of = [&](std::array<double, 4> const& values) {
    return values[m_random() % values.size()];
  };
  m_eagerness = one_of({0, 0.2, 0.6, 1});
  m_obedience = settings.laziness == Laziness::latest ? 1 : one_of({0, 0.3, 0.7, 1});
  m_staying = one_of({0, 0.5, 0.8, 0.95});
}

int Queues::add_stream(int device, int component, bool blocks) {
  m_streams.emplace(m_next, QueuedStream{device, Component(component), {}, false, blocks});
  return m_next++;
}

int Queues::default_stream(int device) const {
  for (auto const& [id, stream] : m_streams)
    if (stream.is_default && stream.device == device) return id;
  return -1;
}

int Queues::add_event(int device, bool timed) {
  m_events.emplace(m_next, RecordedEvent{device, timed, nullptr});
  return m_next++;
}

QueuedStream* Queues::stream(int id) {
  auto const found = m_streams.find(id);
  return found == m_streams.end() ? nullptr : &found->second;
}

RecordedEvent* Queues::event(int id) {
  auto const found = m_events.find(id);
  return found == m_events.end() ? nullptr : &found->second;
}

bool Queues::idle() const {
  return std::ranges::all_of(m_streams, [](auto const& s) { return s.second.pieces.empty(); });
}

bool Queues::touches(AddressRange const& range) const {
  return std::ranges::any_of(m_streams, [&](auto const& s) {
    return std::ranges::any_of(s.second.pieces,
                               [&](Piece const& piece) { return piece.touches(range); });
  });
}

void Queues::drop_work() {
  for (auto& [id, stream] : m_streams) stream.pieces.clear();
}

bool Queues::draw(double probability) {
  return static_cast<double>(m_random() >> 11) * 0x1p-53 < probability;
}

std::int64_t Queues::decisions_after_enqueue() {
  if (m_laziness == Laziness::eager) return -1;
  if (m_laziness == Laziness::latest || !draw(m_eagerness)) return 0;
  return draw(0.2) ? -1 : static_cast<std::int64_t>(1 + m_random() % 6);
}

std::int64_t Queues::decisions_of_query() {
  return m_laziness == Laziness::by_seed ? static_cast<std::int64_t>(1 + m_random() % 4) : 1;
}

std::vector<int> Queues::able() const {
  std::vector<int> result;
  for (auto const& [id, stream] : m_streams) {
    if (!stream.pieces.empty() && stream.pieces.front().may_go_on()) result.push_back(id);
  }
  return result;
}

// Follows waits from stream to stream until it finds a stream that can go on. Returns -1 if there
// is none. The search ends, because a record is enqueued before a stream waits for it.
int Queues::needed_by(int wanted) const {
  for (;;) {
    auto const found = m_streams.find(wanted);
    if (found == m_streams.end() || found->second.pieces.empty()) return -1;
    auto const& piece = found->second.pieces.front();
    if (piece.may_go_on()) return wanted;
    if (piece.kind != Piece::Kind::wait) return -1;
    wanted = piece.record->stream;
  }
}

bool Queues::decide(int wanted) {
  auto const able = this->able();
  if (able.empty()) return false;
  auto chosen = draw(m_obedience) ? needed_by(wanted) : -1;
  if (chosen < 0 && std::ranges::count(able, m_latest) > 0 && draw(m_staying)) chosen = m_latest;
  if (chosen < 0) chosen = able[m_random() % able.size()];
  m_latest = chosen;
  auto& pieces = m_streams.at(chosen).pieces;
  if (pieces.front().go_on()) pieces.pop_front();
  return true;
}

std::vector<std::string> Queues::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [id, stream] : m_streams)
    if (!stream.is_default || !stream.pieces.empty())
      result.push_back(fmt::format("stream {} with {} pieces of work", id, stream.pieces.size()));
  for (auto const& [id, event] : m_events) result.push_back(fmt::format("event {}", id));
  return result;
}

}  // namespace spillway::test::cuda
