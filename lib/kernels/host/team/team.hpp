// The threads that OpenMP gives Kokkos' loops and oneDNN's products, and the proof that it does.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace spillway {

// What may limit a team, in the words of whoever can change it.
enum class TeamLimiter : std::uint8_t { none, thread_limit, active_levels, kokkos };
std::string name(TeamLimiter limiter);  // "OMP_THREAD_LIMIT"

// The most threads that may work together. It has no pointers: ranks tell each other.
struct TeamLimit {
  std::int64_t threads = std::numeric_limits<std::int64_t>::max();
  TeamLimiter by = TeamLimiter::none;
};
TeamLimit team_limit();  // of this process

// Throws Error(bad_input) naming the limit if it is below the threads that run.threads asks for.
void require_within(TeamLimit const& limit, std::int64_t threads);

// Starts so many threads once, and a team of them. Throws Error(bad_input) if there are fewer:
// OpenMP itself would end the process, or go on with a smaller team. From here on OpenMP chooses no
// smaller ones for this thread (OMP_DYNAMIC).
void begin_teams(std::int64_t threads);

// OpenMP may bind the first thread to one core, where all that it starts would stay, too. Gives it
// all cores of the process's places back; teams stay bound as the user said.
void free_first_thread();

// While it lives, the teams of regions that this thread begins, also within oneDNN, have exactly so
// many threads. Work that is cut by their number would else be left undone in parts.
class Team {
 public:
  explicit Team(std::int64_t threads);  // throws Error(device) if OpenMP would give fewer
  ~Team();
  Team(Team const&) = delete;
  Team& operator=(Team const&) = delete;

 private:
  int m_threads, m_dynamic;  // as they were
};

std::int64_t size_of_this_team();  // to which the calling thread belongs

// Throws Error(device) if the team that has done some work is not the one that was asked for.
void require_whole_team(std::int64_t had, std::int64_t asked);

}  // namespace spillway
