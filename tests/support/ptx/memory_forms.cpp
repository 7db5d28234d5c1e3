// ld and st.
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

void add(Table& table, bool loads, std::string const& opcode, Space space, TypeFacts const& type) {
  auto& o = loads ? table.add(opcode, "v=m", load) : table.add(opcode, "mv", store);
  o.space = space;
  o.type = type.type;
  o.bytes = static_cast<std::uint8_t>(type.bytes);
  o.is_signed = type.kind == Kind::is_signed;
  o.tracks_known = true;
}

// Those of volatile and of the memory model: strong accesses, which do not race with each other.
constexpr std::string_view kStrong[] = {".volatile", ".relaxed", ".acquire", ".release"};

void add_all(Table& table, bool loads, Space space, std::string const& space_name) {
  for (auto const& type : kTypes) {
    if (type.bytes == 0 || type.type == Type::pred || type.type == Type::tf32) continue;
    for (auto const* const vector : {"", ".v2", ".v4"}) {
      auto const name = std::string(type.name);
      if (type.bytes * (vector[0] == '\0' ? 1 : vector[2] - '0') > 16) continue;
      auto const rest = space_name + vector + "." + name;
      add(table, loads, (loads ? "ld" : "st") + rest, space, type);
      if (space == Space::param || space == Space::constant) continue;
      for (auto const strong : kStrong) {
        if (strong == (loads ? ".release" : ".acquire")) continue;
        auto const opcode = (loads ? "ld" : "st") + std::string(strong) + rest;
        add(table, loads, opcode, space, type);
        table.add(opcode, loads ? "v=m" : "mv", loads ? load : store).is_strong = true;
      }
    }
  }
}

}  // namespace

void add_accesses(Table& table) {
  for (auto const& [space, name] : kSpaces) {
    auto const dotted = name.empty() ? std::string() : "." + std::string(name);
    add_all(table, true, space, dotted);
    if (space != Space::param && space != Space::constant) add_all(table, false, space, dotted);
  }
  // Hints for caches, and scopes: all threads of a launch see memory alike.
  constexpr std::string_view ignored =
      "weak nc cta gpu sys cluster ca cg cs lu cv wb wt L1::evict_normal L1::evict_unchanged "
      "L1::evict_first L1::evict_last L1::no_allocate L2::64B L2::128B L2::256B";
  table.ignore("ld", ignored);
  table.ignore("st", ignored);
  auto& prefetch = table.add("prefetch.global", "m", [](Warp&, Operation const&, Lanes) {});
  prefetch.tracks_known = true;
  table.ignore("prefetch", "L1 L2");
}

}  // namespace spillway::test::ptx
