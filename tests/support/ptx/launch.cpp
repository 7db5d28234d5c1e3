// Blocks run one after the other.
#include "tests/support/ptx/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/permutation.hpp"
#include "tests/support/ptx/run_block.hpp"

namespace spillway::test::ptx {
namespace {

// A multiprocessor of sm_90 has so much, and a block's reserved bytes are part of it.
constexpr std::size_t kMostSharedBytes = 228 * 1024;

void need(bool holds, Code const& code, std::string const& why) {
  if (!holds) throw std::invalid_argument(fmt::format("kernel {}: {}", code.kernel->name, why));
}

void check(Code const& code, LaunchSettings const& settings) {
  auto const& [grid, block] = std::pair{settings.grid, settings.block};
  need(grid.count() > 0 && grid.x < 1u << 31 && grid.y < 1u << 16 && grid.z < 1u << 16, code,
       "a grid cannot be as large");
  need(block.count() > 0 && block.count() <= code.kernel->most_threads && block.z <= 64, code,
       fmt::format("a block of {} threads, of {} at most", block.count(),
                   code.kernel->most_threads));
  need(settings.parameters.size() == code.kernel->parameter_bytes, code,
       fmt::format("{} bytes of parameters, and it has {}", settings.parameters.size(),
                   code.kernel->parameter_bytes));
  need(code.shared_bytes + settings.dynamic_shared_bytes <= kMostSharedBytes, code,
       "a block has no more shared memory");
}

// An unknown byte that stays so is the launch's result.
void need_known_outputs(Run const& run) {
  for (auto const& [address, output] : run.unknown_outputs) {
    auto const* const end = output.states + output.bytes;
    if (std::find(output.states, end, kUnknown) != end)
      throw Complaint("what is stored was never written, and stays: " +
                      describe(run, output.place));
  }
}

}  // namespace

LaunchCounts launch(Code const& code, Memory const& memory, LaunchSettings const& settings) {
  check(code, settings);
  Run run{code, memory, settings};
  run.counts.by_instruction.resize(code.operations.size());
  BlockRun blocks(run);
  auto const& grid = settings.grid;
  auto const count = static_cast<std::int64_t>(grid.count());
  Permutation const order(count, settings.seed, 0);
  for (std::int64_t i = 0; i < count; ++i) blocks.run(static_cast<std::uint64_t>(order(i)));
  need_known_outputs(run);
  return std::move(run.counts);
}

}  // namespace spillway::test::ptx
