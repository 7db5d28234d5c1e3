// Implements ld and st, and prefetches, which do nothing.
#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

void load(Warp& warp, Operation const& o, Lanes mask) {
  auto const count = static_cast<unsigned>(o.list.size());
  auto const places = place(warp, address_of(o), mask, count * o.bytes, Touch::read, o.is_strong);
  alignas(64) std::uint64_t elements[kLanes];
  for (unsigned i = 0; i < count; ++i) {
    auto const slot = o.list[i];
    auto const known = known_lanes(warp, places, mask, i * o.bytes, o.bytes);
    gather(elements, places, mask, i * o.bytes, o.bytes);
    resize_lanes(warp.lanes<std::byte>(slot), o.register_bytes, elements, o.bytes, o.is_signed,
                 mask);
    warp.set_known(slot, known, mask);
  }
}

void store(Warp& warp, Operation const& o, Lanes mask) {
  auto const count = static_cast<unsigned>(o.list.size());
  auto const places = place(warp, address_of(o), mask, count * o.bytes, Touch::write, o.is_strong);
  alignas(64) std::uint64_t elements[kLanes];
  for (unsigned i = 0; i < count; ++i) {
    auto const slot = o.list[i];
    resize_lanes(elements, o.bytes, warp.lanes<std::byte>(slot), o.register_bytes, false,
                 kAllLanes);
    scatter(places, elements, mask, i * o.bytes, o.bytes);
    set_states(warp, places, mask, warp.known[slot], i * o.bytes, o.bytes);
  }
}

// Accesses with an order of the memory model, or volatile ones, are strong: they do not race with
// each other.
struct Order {
  std::string_view name;
  bool is_strong, of_loads, of_stores;
};
constexpr Order kOrders[] = {{"", false, true, true},
                             {".volatile", true, true, true},
                             {".relaxed", true, true, true},
                             {".acquire", true, true, false},
                             {".release", true, false, true}};

void nothing(Warp& /*warp*/, Operation const& /*o*/, Lanes /*mask*/) {}

std::string dotted(std::string_view name) {
  return name.empty() ? std::string() : "." + std::string(name);
}

// PTX has accesses of 32 bytes for global memory only, and those of eight elements for four bytes
// each.
bool may_be(Space space, unsigned count, unsigned bytes) {
  if (count == 8 && bytes != 4) return false;
  return count * bytes <= (space == Space::global ? 32 : 16);
}

void add_form(Table& table, bool loads, std::string const& opcode, Space space,
              TypeFacts const& type, unsigned count, bool is_strong) {
  auto& o = loads ? table.add(opcode, "v=m v=mc", load) : table.add(opcode, "mv mvc", store);
  o.space = space;
  o.bytes = static_cast<std::uint8_t>(type.bytes);
  o.elements = static_cast<std::uint8_t>(count);
  o.is_signed = type.kind == Kind::is_signed;
  o.is_strong = is_strong;
  o.tracks_known = true;
}

void add_type(Table& table, SpaceName const& space, TypeFacts const& type) {
  bool const is_constant = space.space == Space::param || space.space == Space::constant;
  for (unsigned const count : {1, 2, 4, 8}) {
    if (!may_be(space.space, count, type.bytes)) continue;
    auto const vector = count == 1 ? std::string() : ".v" + std::to_string(count);
    auto const rest = dotted(space.name) + vector + dotted(type.name);
    for (auto const& [name, is_strong, of_loads, of_stores] : kOrders) {
      if (is_constant && is_strong) continue;
      auto const order = std::string(name);
      if (of_loads) add_form(table, true, "ld" + order + rest, space.space, type, count, is_strong);
      if (of_stores && !is_constant)
        add_form(table, false, "st" + order + rest, space.space, type, count, is_strong);
    }
  }
}

// Hints for caches and scopes change nothing, because all threads of a launch see memory alike.
constexpr std::string_view kHints =
    "weak nc cta gpu sys cluster ca cg cs lu cv wb wt L1::evict_normal L1::evict_unchanged "
    "L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first "
    "L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B";

// Prefetches would only hasten later accesses. A policy for caches is a number that nobody reads.
void add_prefetches(Table& table) {
  for (auto const* const opcode : {"prefetch", "prefetch.global", "prefetchu"})
    table.add(opcode, "m", nothing).tracks_known = true;
  table.ignore("prefetch", "L1 L2 L2::evict_last L2::evict_normal");
  table.ignore("prefetchu", "L1");
  for (auto const* const evict : {"evict_first", "evict_last", "evict_normal", "evict_unchanged"})
    table.add(std::string("createpolicy.fractional.L2::") + evict + ".b64", "8= 8=4",
              [](Warp& warp, Operation const& o, Lanes mask) {
                alignas(64) std::uint64_t const zeros[kLanes] = {};
                write_lanes(warp, o.to, zeros, mask);
              });
}

}  // namespace

void add_accesses(Table& table) {
  for (auto const& space : kSpaces)
    for (auto const& type : kTypes)
      if (type.bytes != 0 && type.type != Type::pred && type.type != Type::tf32)
        add_type(table, space, type);
  table.ignore("ld", kHints);
  table.ignore("st", kHints);
  add_prefetches(table);
}

}  // namespace spillway::test::ptx
