#include "tests/support/cuda/piece.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/steady_clock.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/state.hpp"
#include "tests/support/ptx/memory.hpp"

namespace spillway::test::cuda {
namespace {

constexpr int kPoison = 0xff;  // is what runtime/poison.hpp fills dead bytes with

bool all_unknown(std::uint8_t const* states, std::size_t n) {
  return states[0] == ptx::kUnknown && std::memcmp(states, states + 1, n - 1) == 0;
}

// Bytes that are unknown are invalid already. Most of a large workspace is never written, so it is
// looked at by pages.
void make_invalid(Bytes const& bytes) {
  auto const size = static_cast<std::size_t>(bytes.size);
  if (bytes.states == nullptr) {
    std::memset(bytes.at, kPoison, size);
    return;
  }
  constexpr std::size_t page = 4096;
  for (std::size_t first = 0; first < size; first += page) {
    auto const n = std::min(page, size - first);
    if (all_unknown(bytes.states + first, n)) continue;
    std::memset(bytes.at + first, kPoison, n);
    std::memset(bytes.states + first, ptx::kUnknown, n);
  }
}

// Work that does not say itself which bytes it makes known makes all known that it may write.
void make_known(std::vector<MemoryAccess> const& accesses) {
  for (auto const& access : accesses)
    if (access.writes) set_states(reachable_bytes(state(), access.range), ptx::kKnown);
}

}  // namespace

void set_states(Bytes const& bytes, std::uint8_t value) {
  if (bytes.states != nullptr)
    std::memset(bytes.states, value, static_cast<std::size_t>(bytes.size));
}

// The bytes of the destination are as known as those of the source.
void move(Bytes const& to, Source const& from) {
  auto const bytes = static_cast<std::size_t>(to.size);
  std::memcpy(to.at, from.at, bytes);
  if (from.is_of_host && from.states != nullptr) see_changes(from.at, to.size, from.states);
  if (to.states != nullptr && from.states != nullptr) {
    std::memcpy(to.states, from.states, bytes);
  } else {
    set_states(to, ptx::kKnown);
  }
}

bool Piece::may_go_on() const {
  if (stuck && stage > 0) return false;
  return kind != Kind::wait || record->done;
}

bool Piece::go_on() {
  if (marks && marks->begun == 0) marks->begun = moment();
  if (stuck) {
    ++stage;
    return false;
  }
  switch (kind) {
    case Kind::copy:
    case Kind::fill:
      return go_on_moving();
    case Kind::kernel:
      return go_on_running();
    case Kind::record:
      record->done = true;
      record->seconds =
          std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count();
      return true;
    case Kind::wait:
      return true;
  }
  return true;
}

// The two halves of the source are read at two moments, so that results show whether a caller
// changes the source too early.
bool Piece::go_on_moving() {
  auto const half = to.size / 2;
  auto const move_part = [&](std::int64_t first, std::int64_t last) {
    auto const states_at = [&](auto* states) {
      return states == nullptr ? states : states + first;
    };
    Bytes const part{to.at + first, last - first, states_at(to.states)};
    if (kind == Kind::copy)
      return move(part, {from.at + first, states_at(from.states), from.is_of_host});
    if (value == kPoison) return make_invalid(part);  // nobody may read what an Engine poisons
    std::memset(part.at, value, static_cast<std::size_t>(part.size));
    set_states(part, ptx::kKnown);
  };
  switch (stage++) {
    case 0:
      make_fresh();
      make_invalid(to);
      return false;
    case 1:
      move_part(0, half);
      return false;
    case 2:
      move_part(half, to.size);
      return false;
    default:
      return true;
  }
}

bool Piece::go_on_running() {
  if (stage++ == 0) {
    make_fresh();
    return false;
  }
  run_on_device_thread([this] {
    try {
      run();
    } catch (std::exception const& error) {
      complain(label + " has thrown: " + error.what());
    }
  });
  if (!knows_bytes) make_known(accesses);
  return true;
}

void Piece::make_fresh() const {
  for (auto const& range : fresh) make_invalid(reachable_bytes(state(), range));
}

bool Piece::touches(AddressRange const& range) const {
  return std::ranges::any_of(accesses, [&](auto const& a) { return a.range.overlaps(range); });
}

}  // namespace spillway::test::cuda
