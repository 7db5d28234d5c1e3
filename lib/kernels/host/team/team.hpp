// Asks OpenMP for the threads of Kokkos' loops and oneDNN's products, and checks that they come.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace spillway {

// Names what may limit the number of threads of a team.
enum class TeamLimiter : std::uint8_t { none, thread_limit, active_levels, kokkos };
// Returns the name by which whoever can change the limit knows it, such as "OMP_THREAD_LIMIT".
std::string name(TeamLimiter limiter);

// Says how many threads may work together, and what limits them. It has no pointers, because ranks
// send it to each other.
struct TeamLimit {
  std::int64_t threads = std::numeric_limits<std::int64_t>::max();
  TeamLimiter by = TeamLimiter::none;
};
TeamLimit team_limit();  // returns that of this process

// Throws Error(bad_input), naming the limit, if it is below `threads`, the value of run.threads.
void require_within(TeamLimit const& limit, std::int64_t threads);

// Starts this many threads once as a test, and then a team of them. Throws Error(bad_input) if
// there are fewer; OpenMP itself would end the process, or go on with a smaller team. From then on
// OpenMP chooses no smaller teams for this thread (OMP_DYNAMIC).
void begin_teams(std::int64_t threads);

// OpenMP may bind the first thread to one core, on which all threads that it starts would stay,
// too. This function gives the first thread all cores of the process's places back. Teams stay
// bound as the user's settings of OpenMP say.
void free_first_thread();

// While a Team lives, parallel regions that this thread begins, also within oneDNN, have exactly
// `threads` threads. With fewer, work that is cut by their number would be left undone in part.
class Team {
 public:
  explicit Team(std::int64_t threads);  // throws Error(device) if OpenMP would give fewer
  ~Team();
  Team(Team const&) = delete;
  Team& operator=(Team const&) = delete;

 private:
  int m_threads, m_dynamic;  // the settings that the destructor restores
};

std::int64_t size_of_this_team();  // counts the team of the calling thread

// Throws Error(device) if a team that has done some work had another size than was asked for.
void require_whole_team(std::int64_t had, std::int64_t asked);

}  // namespace spillway
