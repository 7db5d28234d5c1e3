#include "train/change_places.hpp"

#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {
namespace {

void fit(RunMemory& memory, Comm& comm, Program const& program) {
  on_all_ranks(comm, [&] { memory.resize(program); });
}

bool make_room(RunMemory& memory, Comm& comm, Program const& program) {
  try {
    fit(memory, comm, program);
    return true;
  } catch (AgreedError const& error) {
    if (*error.what() != '\0') log_warning("{}; the plan stays", error.what());
    return false;
  }
}

}  // namespace

Moved change_places(RunMemory& memory, Comm& comm, PlaceChange const& change,
                    std::function<void()> const& run_move) {
  if (!make_room(memory, comm, change.move)) {
    make_room(memory, comm, change.from);
    return Moved::nothing;
  }
  try {
    on_all_ranks(comm, run_move);
  } catch (AgreedError const& error) {
    if (error.status() != Status::storage) throw;
    return Moved::state_lost;
  }
  fit(memory, comm, change.to);
  return Moved::state;
}

}  // namespace spillway
