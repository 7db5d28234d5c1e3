#include "train/storage_failure_policy.hpp"

#include <fmt/core.h>

#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {
namespace {

// After this many tries a step is not run again. By then the spill file has moved pieces that
// failed to other places.
constexpr int kMostTries = 3;

constexpr auto kLost = "a step was committed without it; the last checkpoint is unharmed";

}  // namespace

std::optional<Status> StorageFailurePolicy::after(CommitWord word, std::int64_t step,
                                                  std::function<bool()> const& do_without) {
  if (word == CommitWord::state_lost) {
    m_state_lost = true;
    say(false, kLost);
    return Status::storage;
  }
  if (word != CommitWord::storage_error) {
    m_tries = 0;
    return std::nullopt;
  }
  bool const again = ++m_tries < kMostTries;
  bool const without = !again && do_without && do_without();
  // State was lost while the run changed to another plan.
  if (m_state_lost) return Status::storage;
  if (!again && !without) {
    say(false, fmt::format("step {} is not done and the run stops before it", step));
    return Status::storage;
  }
  say(true, fmt::format("step {} is done again{}", step, without ? ", without storage" : ""));
  if (without) m_tries = 0;
  forget();
  return std::nullopt;
}

void StorageFailurePolicy::lose_state() {
  m_state_lost = true;
  say(false, kLost);
}

void StorageFailurePolicy::forget() {
  if (m_spill) m_spill->forget_failure();
}

std::optional<Status> StorageFailurePolicy::settle(Engine& engine) {
  try {
    on_all_ranks(m_comm, [&] { engine.finish(); });
    return std::nullopt;
  } catch (AgreedError const& error) {
    if (error.status() != Status::storage) throw;
    lose_state();
    return Status::storage;
  }
}

// When the consequence of a failure is known, the spill file may have forgotten the failure
// already. Then the last one that was found is named again.
void StorageFailurePolicy::say(bool warns, std::string const& consequence) {
  auto const now = m_spill ? m_spill->first_failure() : "";
  if (!say(warns, now, consequence)) say(warns, m_last_failure, consequence);
  if (!now.empty()) m_last_failure = now;
}

// Returns false if no rank has a failure to report.
bool StorageFailurePolicy::say(bool warns, std::string const& failure,
                               std::string const& consequence) {
  try {
    on_all_ranks(m_comm, [&] {
      if (!failure.empty()) throw Error(Status::storage, failure);
    });
    return false;
  } catch (AgreedError const& error) {
    if (*error.what() == '\0') return true;
    auto const level = warns ? LogLevel::warning : LogLevel::error;
    write_log(level, fmt::format("rank {}: {}; {}", m_comm.rank(), error.what(), consequence));
    return true;
  }
}

}  // namespace spillway
