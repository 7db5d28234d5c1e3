// Plans a run as `spillway plan` is asked to: for this machine, or for one that a file describes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "comm/comm.hpp"
#include "config/config.hpp"
#include "profile/profile_cache.hpp"
#include "run/compute_here.hpp"
#include "run/plan_run.hpp"
#include "run/target.hpp"
#include "samples/data.hpp"

namespace spillway {

// Reads the input file and these overrides. Throws Error(bad_input).
Config config_of(PlanArguments const& arguments, std::vector<std::string> const& overrides);

// Returns model.vocab or, if it is not set, the vocabulary of the token files. If a plan for
// another machine finds no token files here, returns the vocabulary of published models, and says
// so. Throws Error(bad_input).
std::int64_t vocabulary(Config const& config, bool is_elsewhere);

// Returns the data if all of its files are here, as they need not be for another machine, and can
// be used; says why, if they cannot.
std::optional<Data> data_here(Config const& config);

// Returns how many tokens all ranks together train on in a step.
inline double tokens_of_step(Config const& config) {
  return static_cast<double>(config.batch.sequences) * static_cast<double>(config.data.sequence);
}

// A plan and what it was made for.
struct PlannedTarget {
  Config config;  // what was asked, with the saved plan that plan.file names instead of its own
  Target target;
  PlannedRun planned;
};

// An AskedTarget says what a plan is to be made for.
struct AskedTarget {
  Config config;  // as in a PlannedTarget
  Target target;
};

// A Planner makes plans one after another. Those for this machine must be for as many ranks,
// threads and the same device: the machine is opened, and measured, once for all of them.
class Planner {
 public:
  // Plans the run. Throws Error(bad_input), or Error(cannot_fit) if no plan fits.
  PlannedTarget plan(PlanArguments const& arguments, Config config, std::int64_t vocab);
  // Finds out what the run would be planned for, and makes no plan. Throws Error(bad_input).
  AskedTarget target(PlanArguments const& arguments, Config config, std::int64_t vocab);

 private:
  Target this_machine(Config const& config, std::int64_t vocab, std::int64_t ranks);

  std::unique_ptr<Comm> m_alone = make_single_rank_comm();
  std::optional<ComputeHere> m_here;  // has a value once a plan for this machine was asked for
  ProfileCache m_cache{user_profile_cache(), ProfileCache::Use::remember};
};

}  // namespace spillway
