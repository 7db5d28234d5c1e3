#include "kernels/host/team/team.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "base/affinity.hpp"
#include "base/cannot_start.hpp"
#include "base/error.hpp"

namespace spillway {
namespace {

// Kokkos has a table with room for this many threads, and does not check its bounds.
constexpr std::int64_t kMostOfKokkos = 512;

// Returns how many threads a parallel region of OpenMP that begins now may have. If OMP_DYNAMIC is
// off, a region that asks for at most this number gets what it asks for.
std::int64_t allowed_now() {
  if (omp_get_max_active_levels() <= omp_get_active_level()) return 1;
  return omp_get_thread_limit();
}

// The destructor wakes the threads that wait for `over`, so that they end even after an exception.
struct Release {
  std::atomic<bool>& over;

  ~Release() {
    over = true;
    over.notify_all();
  }
};

void require_threads(std::int64_t threads) {
  std::atomic<bool> over = false;
  std::vector<std::jthread> others;
  Release const release{over};  // destroyed before `others`, which joins the threads
  try {
    while (std::ssize(others) + 1 < threads) others.emplace_back([&over] { over.wait(false); });
  } catch (std::system_error const& error) {
    throw cannot_start("run.threads", std::ssize(others) + 1, threads, error);
  }
}

}  // namespace

std::string name(TeamLimiter limiter) {
  switch (limiter) {
    case TeamLimiter::none:
      return "nothing";
    case TeamLimiter::thread_limit:
      return "OMP_THREAD_LIMIT";
    case TeamLimiter::active_levels:
      return "OMP_MAX_ACTIVE_LEVELS";
    case TeamLimiter::kokkos:
      return "Kokkos";
  }
  return "";
}

TeamLimit team_limit() {
  if (omp_get_max_active_levels() < 1) return {1, TeamLimiter::active_levels};
  std::int64_t const limit = omp_get_thread_limit();
  if (limit < kMostOfKokkos) return {limit, TeamLimiter::thread_limit};
  return {kMostOfKokkos, TeamLimiter::kokkos};
}

void require_within(TeamLimit const& limit, std::int64_t threads) {
  if (threads <= limit.threads) return;
  bool const is_users = limit.by != TeamLimiter::kokkos;
  throw Error(Status::bad_input,
              fmt::format("run.threads: {} asked for, but {} allows {}: {}give run.threads={}",
                          threads, name(limit.by), limit.threads,
                          is_users ? "raise or unset it, or " : "", limit.threads));
}

void begin_teams(std::int64_t threads) {
  require_within(team_limit(), threads);
  require_threads(threads);
  omp_set_dynamic(0);
  Team const asked(threads);
  std::int64_t had = 1;
#pragma omp parallel
  if (omp_get_thread_num() == 0) had = size_of_this_team();
  require_whole_team(had, threads);
}

void free_first_thread() {
  std::vector<int> cores;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    auto const before = cores.size();
    cores.resize(before + static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cores.data() + before);
  }
  stay_on(cores);
}

Team::Team(std::int64_t threads) : m_threads(omp_get_max_threads()), m_dynamic(omp_get_dynamic()) {
  require_whole_team(std::min(threads, allowed_now()), threads);
  omp_set_dynamic(0);
  omp_set_num_threads(static_cast<int>(threads));
}

Team::~Team() {
  omp_set_num_threads(m_threads);
  omp_set_dynamic(m_dynamic);
}

std::int64_t size_of_this_team() {
  return omp_get_num_threads();
}

void require_whole_team(std::int64_t had, std::int64_t asked) {
  if (had == asked) return;
  throw Error(Status::device,
              fmt::format("OpenMP has {} threads work together where {} were asked for: parts of "
                          "products would be missing",
                          had, asked));
}

}  // namespace spillway
