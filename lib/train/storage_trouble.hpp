// What a run does about storage that fails it: the step once more, or the end at a checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "comm/comm.hpp"
#include "io/spill/spill_file.hpp"
#include "runtime/engine.hpp"

namespace spillway {

// Its methods are collective; what has to be said is said by the lowest rank that it happened to.
class StorageTrouble {
 public:
  // `spill` may be null.
  StorageTrouble(SpillFile* spill, Comm& comm) : m_spill(spill), m_comm(comm) {}

  // After a run of `step` (from 1). Empty: the step counts, or is to be run again, as `word` says.
  // `do_without` is asked when nothing else helps: whether another plan is in force by now that
  // needs no storage.
  std::optional<Status> after(CommitWord word, std::int64_t step,
                              std::function<bool()> const& do_without = {});

  // Waits until the engine is done with all it has begun. Empty: its state is whole. Throws
  // AgreedError for what has nothing to do with storage.
  std::optional<Status> settle(Engine& engine);

  // What has failed is told by the caller, or is not worth telling. Not collective.
  void forget();

  // State could not be brought to where another plan has it: only the last checkpoint is whole.
  void lose_state();
  // Only the last checkpoint is whole: no other may be written.
  bool state_lost() const { return m_state_lost; }

 private:
  // `warns`: the run goes on.
  void say(bool warns, std::string const& consequence);
  bool say(bool warns, std::string const& failure, std::string const& consequence);

  SpillFile* m_spill;
  Comm& m_comm;
  std::string m_said;  // the last failure here that was told
  int m_tries = 0;     // of the step that is next
  bool m_state_lost = false;
};

}  // namespace spillway
