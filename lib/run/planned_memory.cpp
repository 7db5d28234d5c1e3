#include "run/planned_memory.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/log.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "io/spill/spill_storage.hpp"
#include "run/agreed_products.hpp"
#include "run/existing_memory.hpp"
#include "samples/batch_shape.hpp"

namespace spillway {

PlannedMemory::PlannedMemory(PlanParts const& parts, Comm& comm) {
  auto target = parts.target;
  do {
    on_all_ranks(comm, [&] {
      m_run = plan_run(parts.config, parts.vocab, target);
      auto const shape =
          batch_shape(parts.config.batch, m_run->train.arithmetic.micro, comm.rank(), comm.size());
      compile_for_rank(*m_run, shape.micro_batches());
    });
    // All ranks must plan for the same budgets again.
    auto const& peak = longest_step(*m_run).peak_bytes;
    target.budgets.nvme_bytes = peak[index(Tier::nvme)] / 2;
  } while (!take_memory(parts, target.budgets, comm));
  std::vector<Graph const*> graphs{&m_run->train};
  if (m_run->eval) graphs.push_back(&*m_run->eval);
  set_products(*m_run, agreed_products(graphs, parts.compute, parts.products, comm));
  if (comm.rank() != 0) return;
  auto const warning =
      overcommitted(longest_step(*m_run).peak_bytes, !parts.compute.device.has_own_memory(),
                    parts.available_bytes, comm.local_size());
  if (!warning.empty()) log_warning("{}", warning);
}

// Returns false, after a warning, if a rank's drive has no room for its spill file.
bool PlannedMemory::take_memory(PlanParts const& parts, Budgets const& limits, Comm& comm) {
  auto const& config = parts.config;
  auto const most = may_replan(config) ? limits : Budgets{};
  auto const& program = m_run->programs.train;
  on_all_ranks(comm, [&] { m_memory.emplace(config, parts.compute.device, program, most); });
  std::string no_room;
  on_all_ranks(comm, [&] {
    try {
      m_memory->make_spill_file(config, program, comm.rank());
    } catch (NoRoom const& error) {
      no_room = error.what();
    }
  });
  auto const lacks_room = gathered(comm, no_room.empty() ? 0 : 1);
  auto const first = std::ranges::find(lacks_room, 1) - lacks_room.begin();
  if (first == std::ssize(lacks_room)) return true;
  m_memory.reset();
  if (first == comm.rank()) log_warning("{}; planned again with half of it", no_room);
  return false;
}

}  // namespace spillway
