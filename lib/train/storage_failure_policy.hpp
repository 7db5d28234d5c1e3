// Decides what a run does if storage fails: it runs the step again, or ends at a checkpoint.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "comm/comm.hpp"
#include "io/spill/spill_file.hpp"
#include "runtime/engine.hpp"

namespace spillway {

// All ranks must call these functions, except forget() and state_lost(). Of the ranks that have a
// failure, the lowest one logs it.
class StorageFailurePolicy {
 public:
  // `spill` may be null.
  StorageFailurePolicy(SpillFile* spill, Comm& comm) : m_spill(spill), m_comm(comm) {}

  // Call this after a run of step `step` (from 1). Returns nothing if the step counts or is to be
  // run again, as `word` says, otherwise the status with which the run ends. If further tries are
  // useless, calls `do_without`, which returns whether the run has changed to a plan without
  // storage.
  std::optional<Status> after(CommitWord word, std::int64_t step,
                              std::function<bool()> const& do_without = {});

  // Waits until the engine has finished all that it has begun. Returns nothing if state is intact.
  // Throws AgreedError for failures that are not of storage.
  std::optional<Status> settle(Engine& engine);

  // Forgets a failure that the caller reports, or that is not worth reporting.
  void forget();

  // Records that state could not be moved to the places of another plan, so it is lost.
  void lose_state();
  // Returns whether state is lost. Then only the last checkpoint has it, and none may be written.
  bool state_lost() const { return m_state_lost; }

 private:
  // If `warns` is true the run goes on, so the message is a warning.
  void say(bool warns, std::string const& consequence);
  bool say(bool warns, std::string const& failure, std::string const& consequence);

  SpillFile* m_spill;
  Comm& m_comm;
  std::string m_last_failure;  // the last failure that say() has found on this rank
  int m_tries = 0;             // how often the next step was tried already
  bool m_state_lost = false;
};

}  // namespace spillway
