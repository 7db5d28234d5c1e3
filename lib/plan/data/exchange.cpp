#include "plan/data/exchange.hpp"

namespace spillway {

Sharing sharing_of(Program const& program, int chunk) {
  return {program.ranks, chunk < 0 ? 1 : program.chunks[chunk].sharers};
}

bool gathers_parameters(Program const& program, Item const& item) {
  if (item.chunk < 0 || item.operands.size() < 2) return false;
  return program.buffers[item.operands[1]].tensor == program.chunks[item.chunk].parameter;
}

RankRange exchange_group(Program const& program, Item const& item, std::int64_t rank) {
  if (item.kind != ItemKind::all_gather) return all_ranks(program.ranks);
  auto const sharing = sharing_of(program, item.chunk);
  return gathers_parameters(program, item) ? sharing.sharers_of(rank) : sharing.keepers_of(rank);
}

}  // namespace spillway
