// Gets threads from OpenMP for Kokkos' loops and oneDNN's products, and checks their number.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace spillway {

// Names what may limit the number of threads of an OpenMP team.
enum class TeamLimiter : std::uint8_t { none, thread_limit, active_levels, kokkos };
// Returns a limit's name as a user knows it, such as "OMP_THREAD_LIMIT".
std::string name(TeamLimiter limiter);

// Says how many threads may work together, and what limits their number. It has no pointers,
// because ranks send it to each other.
struct TeamLimit {
  std::int64_t threads = std::numeric_limits<std::int64_t>::max();
  TeamLimiter by = TeamLimiter::none;
};
TeamLimit team_limit();  // returns the limit of this process

// Throws Error(bad_input), naming the limit, if limit.threads is less than `threads` (run.threads).
void require_within(TeamLimit const& limit, std::int64_t threads);

// Tests that `threads` threads can be started, and then an OpenMP team of them. Throws
// Error(bad_input) if fewer are allowed or can be started, and Error(device) if the team is
// smaller. Afterwards OMP_DYNAMIC is off for the calling thread, so OpenMP makes its teams no
// smaller than asked.
void begin_teams(std::int64_t threads);

// Lets the calling thread run on all cores of the process's OpenMP places. OpenMP may bind the
// first thread to one core, and threads that it starts would then be bound to this core, too.
// OpenMP's teams stay bound as the user's settings say.
void free_first_thread();

// While a Team lives, parallel regions that the calling thread begins, also within oneDNN, have
// exactly `threads` threads. With fewer, some work that is divided among them would not be done.
class Team {
 public:
  explicit Team(std::int64_t threads);  // throws Error(device) if OpenMP would give fewer
  ~Team();
  Team(Team const&) = delete;
  Team& operator=(Team const&) = delete;

 private:
  int m_threads, m_dynamic;  // the settings that the destructor restores
};

std::int64_t size_of_this_team();  // returns how many threads the calling thread's team has

// Throws Error(device) if a team that was to have `asked` threads had another number, `had`.
void require_whole_team(std::int64_t had, std::int64_t asked);

}  // namespace spillway
