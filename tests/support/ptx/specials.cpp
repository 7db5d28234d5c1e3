#include "tests/support/ptx/specials.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace spillway::test::ptx {
namespace {

constexpr std::size_t kSharedUnitBytes = 128;

struct Asked {
  Dim thread, block_at, block, grid;
  unsigned lane, warp, warps;
  std::size_t shared_bytes, dynamic_shared_bytes;
  std::uint64_t instructions;
};

struct Special {
  std::string_view name;
  unsigned bytes;
  std::uint64_t (*value)(Asked const&);
  Changes changes = Changes::never;
};

constexpr Special kSpecials[] = {
    {"%tid.x", 4, [](Asked const& a) -> std::uint64_t { return a.thread.x; }},
    {"%tid.y", 4, [](Asked const& a) -> std::uint64_t { return a.thread.y; }},
    {"%tid.z", 4, [](Asked const& a) -> std::uint64_t { return a.thread.z; }},
    {"%ntid.x", 4, [](Asked const& a) -> std::uint64_t { return a.block.x; }},
    {"%ntid.y", 4, [](Asked const& a) -> std::uint64_t { return a.block.y; }},
    {"%ntid.z", 4, [](Asked const& a) -> std::uint64_t { return a.block.z; }},
    {"%ctaid.x", 4, [](Asked const& a) -> std::uint64_t { return a.block_at.x; },
     Changes::by_block},
    {"%ctaid.y", 4, [](Asked const& a) -> std::uint64_t { return a.block_at.y; },
     Changes::by_block},
    {"%ctaid.z", 4, [](Asked const& a) -> std::uint64_t { return a.block_at.z; },
     Changes::by_block},
    {"%nctaid.x", 4, [](Asked const& a) -> std::uint64_t { return a.grid.x; }},
    {"%nctaid.y", 4, [](Asked const& a) -> std::uint64_t { return a.grid.y; }},
    {"%nctaid.z", 4, [](Asked const& a) -> std::uint64_t { return a.grid.z; }},
    {"%laneid", 4, [](Asked const& a) -> std::uint64_t { return a.lane; }},
    {"%warpid", 4, [](Asked const& a) -> std::uint64_t { return a.warp; }},
    {"%nwarpid", 4, [](Asked const& a) -> std::uint64_t { return a.warps; }},
    {"%smid", 4, [](Asked const&) -> std::uint64_t { return 0; }},
    {"%nsmid", 4, [](Asked const&) -> std::uint64_t { return 1; }},
    {"%lanemask_eq", 4, [](Asked const& a) -> std::uint64_t { return 1u << a.lane; }},
    {"%lanemask_lt", 4, [](Asked const& a) -> std::uint64_t { return (1u << a.lane) - 1; }},
    {"%lanemask_le", 4, [](Asked const& a) -> std::uint64_t { return (2u << a.lane) - 1; }},
    {"%lanemask_gt", 4, [](Asked const& a) -> std::uint64_t { return ~((2u << a.lane) - 1); }},
    {"%lanemask_ge", 4, [](Asked const& a) -> std::uint64_t { return ~((1u << a.lane) - 1); }},
    // GPUs give shared memory in units; this register does not count the reserved bytes.
    {"%total_smem_size", 4,
     [](Asked const& a) -> std::uint64_t {
       return round_up(a.shared_bytes - kReservedSharedBytes, kSharedUnitBytes);
     }},
    {"%aggr_smem_size", 4,
     [](Asked const& a) -> std::uint64_t { return round_up(a.shared_bytes, kSharedUnitBytes); }},
    {"%dynamic_smem_size", 4,
     [](Asked const& a) -> std::uint64_t { return a.dynamic_shared_bytes; }},
    {"%clock", 4, [](Asked const& a) -> std::uint64_t { return a.instructions; }, Changes::by_turn},
    {"%clock64", 8, [](Asked const& a) -> std::uint64_t { return a.instructions; },
     Changes::by_turn},
    {"%globaltimer", 8, [](Asked const& a) -> std::uint64_t { return a.instructions; },
     Changes::by_turn}};

Special const* find(std::string_view name) {
  auto const* const found = std::ranges::find(kSpecials, name, &Special::name);
  return found == std::end(kSpecials) ? nullptr : found;
}

Asked asked(Warp const& warp, unsigned lane) {
  auto const& run = warp.block->run;
  auto const& block = run.settings.block;
  auto const thread = warp.first_thread + lane;
  return {{thread % block.x, thread / block.x % block.y, thread / block.x / block.y},
          warp.block->at,
          block,
          run.settings.grid,
          lane,
          warp.first_thread / kLanes,
          static_cast<unsigned>((block.count() + kLanes - 1) / kLanes),
          run.code.shared_bytes + run.settings.dynamic_shared_bytes,
          run.settings.dynamic_shared_bytes,
          run.counts.warp_instructions};
}

void set_lane(Warp const& warp, Slot slot, unsigned lane, Special const& special,
              std::uint64_t value) {
  if (special.bytes == 4)
    warp.lanes<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(value);
  else
    warp.lanes<std::uint64_t>(slot)[lane] = value;
}

// A register whose value changes has the same value in all lanes, so that it is asked for once.
void set(Warp const& warp, Slot slot, Special const& special) {
  auto const first = special.value(asked(warp, 0));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bool const is_same = special.changes != Changes::never;
    set_lane(warp, slot, lane, special, is_same ? first : special.value(asked(warp, lane)));
  }
}

}  // namespace

unsigned special_bytes(std::string_view name) {
  auto const* const found = find(name);
  return found == nullptr ? 0 : found->bytes;
}

void set_specials(Warp const& warp, Changes when) {
  for (auto const& [slot, name] : warp.block->run.code.specials)
    if (auto const* const special = find(name); special->changes == when) set(warp, slot, *special);
}

}  // namespace spillway::test::ptx
