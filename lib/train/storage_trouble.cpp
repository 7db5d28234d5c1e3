#include "train/storage_trouble.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "comm/on_all_ranks.hpp"

namespace spillway {
namespace {

// Pieces that failed have moved to spare places by then.
constexpr int kMostTries = 3;

constexpr auto kLost = "a step was committed without it; the last checkpoint is unharmed";

}  // namespace

std::optional<Status> StorageTrouble::after(CommitWord word, std::int64_t step) {
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
  say(again, again ? fmt::format("step {} is done again", step)
                   : fmt::format("step {} is not done and the run stops before it", step));
  if (!again) return Status::storage;
  if (m_spill) m_spill->forget_failure();
  return std::nullopt;
}

std::optional<Status> StorageTrouble::settle(Engine& engine) {
  try {
    on_all_ranks(m_comm, [&] { engine.finish(); });
    return std::nullopt;
  } catch (AgreedError const& error) {
    if (error.status() != Status::storage) throw;
    m_state_lost = true;
    if (*error.what() != '\0') spdlog::error("rank {}: {}; {}", m_comm.rank(), error.what(), kLost);
    return Status::storage;
  }
}

void StorageTrouble::say(bool warns, std::string const& consequence) {
  try {
    on_all_ranks(m_comm, [&] {
      auto const failure = m_spill ? m_spill->first_failure() : "";
      if (!failure.empty()) throw Error(Status::storage, failure);
    });
  } catch (AgreedError const& error) {
    if (*error.what() == '\0') return;
    spdlog::log(warns ? spdlog::level::warn : spdlog::level::err, "rank {}: {}; {}", m_comm.rank(),
                error.what(), consequence);
  }
}

}  // namespace spillway
