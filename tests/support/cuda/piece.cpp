#include "tests/support/cuda/piece.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/steady_clock.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/scheduler.hpp"

namespace spillway::test::cuda {
namespace {

void make_invalid(Bytes const& bytes) {
  std::memset(bytes.at, 0xff, static_cast<std::size_t>(bytes.size));
}

}  // namespace

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
  auto const move = [&](std::int64_t first, std::int64_t last) {
    auto const bytes = static_cast<std::size_t>(last - first);
    if (kind == Kind::copy) {
      std::memcpy(to.at + first, from + first, bytes);
    } else {
      std::memset(to.at + first, value, bytes);
    }
  };
  switch (stage++) {
    case 0:
      make_invalid(to);
      return false;
    case 1:
      move(0, half);
      return false;
    case 2:
      move(half, to.size);
      return false;
    default:
      return true;
  }
}

bool Piece::go_on_running() {
  if (stage++ == 0) {
    std::ranges::for_each(fresh, make_invalid);
    return false;
  }
  run_on_device_thread([this] {
    try {
      run();
    } catch (std::exception const& error) {
      complain(label + " has thrown: " + error.what());
    }
  });
  return true;
}

bool Piece::touches(AddressRange const& range) const {
  return std::ranges::any_of(accesses, [&](auto const& a) { return a.range.overlaps(range); });
}

}  // namespace spillway::test::cuda
