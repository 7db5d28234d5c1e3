// Implements mov, selp and cvta.
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

template <class T>
T same(T a) {
  return a;
}

// Only the operand that is selected needs to be known.
template <class T>
void select(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<T const>(o.from[0]);
  auto const* const b = warp.lanes<T const>(o.from[1]);
  auto const picks = read_predicate(warp, o, 2);
  auto const known =
      warp.known[o.from[2]] & ((picks & warp.known[o.from[0]]) | (~picks & warp.known[o.from[1]]));
  alignas(64) T values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = (picks >> lane & 1) != 0 ? a[lane] : b[lane];
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, known, mask);
}

// Joins parts into one value, of which the first part is the lowest.
template <class Whole, class Part>
void pack(Warp& warp, Operation const& o, Lanes mask) {
  alignas(64) Whole values[kLanes] = {};
  auto known = kAllLanes;
  for (std::size_t i = 0; i < o.list.size(); ++i) {
    auto const* const part = warp.lanes<Part const>(o.list[i]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] |= static_cast<Whole>(static_cast<Whole>(part[lane]) << (8 * sizeof(Part) * i));
    known &= warp.known[o.list[i]];
  }
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, known, mask);
}
template <class Whole, class Part>
void unpack(Warp& warp, Operation const& o, Lanes mask) {
  alignas(64) Whole whole[kLanes];
  std::memcpy(whole, warp.lanes<Whole const>(o.from[0]), sizeof whole);
  auto const known = warp.known[o.from[0]];
  for (std::size_t i = 0; i < o.list.size(); ++i) {
    alignas(64) Part values[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = static_cast<Part>(whole[lane] >> (8 * sizeof(Part) * i));
    write_lanes(warp, o.list[i], values, mask);
    warp.set_known(o.list[i], known, mask);
  }
}

template <class Whole, class Part>
void add_vector(Table& table, std::string const& type) {
  auto const width = std::to_string(sizeof(Whole));
  auto const part = std::to_string(sizeof(Part));
  for (bool const packs : {true, false}) {
    auto& o = packs ? table.add("mov.pack" + part + type, width + "=h", pack<Whole, Part>)
                    : table.add("mov.unpack" + part + type, "h=" + width, unpack<Whole, Part>);
    o.bytes = sizeof(Part);
    o.elements = sizeof(Whole) / sizeof(Part);
    o.tracks_known = true;
  }
}

template <class T>
void add_type(Table& table, std::string const& type) {
  add_function<same<T>>(table, "mov." + type);
  auto const width = std::to_string(sizeof(T));
  table.add("selp." + type, width + "=" + width + width + "p", select<T>).tracks_known = true;
}

std::uint64_t into_shared(std::uint64_t a) {
  return a | kSharedWindow;
}
std::uint64_t into_local(std::uint64_t a) {
  return a | kLocalWindow;
}
std::uint64_t into_param(std::uint64_t a) {
  return a | kParamWindow;
}
template <std::uint64_t window>
std::uint64_t out_of(std::uint64_t a) {
  return a & ~window;
}

}  // namespace

void add_moves(Table& table) {
  for (auto const& type : kTypes) {
    auto const name = std::string(type.name);
    bool const is_packed = type.type == Type::f16x2 || type.type == Type::bf16x2;
    if (type.type == Type::tf32 || is_packed) continue;
    if (type.bytes == 2) add_type<std::uint16_t>(table, name);
    if (type.bytes == 4) add_type<std::uint32_t>(table, name);
    if (type.bytes == 8) add_type<std::uint64_t>(table, name);
  }
  add_vector<std::uint32_t, std::uint16_t>(table, ".b32");
  add_vector<std::uint64_t, std::uint16_t>(table, ".b64");
  add_vector<std::uint64_t, std::uint32_t>(table, ".b64");
  // Addresses of global and constant memory are also generic ones.
  for (auto const* const opcode :
       {"cvta.global.u64", "cvta.to.global.u64", "cvta.const.u64", "cvta.to.const.u64"})
    add_function<same<std::uint64_t>>(table, opcode);
  add_function<into_shared>(table, "cvta.shared.u64");
  add_function<into_local>(table, "cvta.local.u64");
  add_function<into_param>(table, "cvta.param.u64");
  add_function<out_of<kSharedWindow>>(table, "cvta.to.shared.u64");
  add_function<out_of<kLocalWindow>>(table, "cvta.to.local.u64");
  add_function<out_of<kParamWindow>>(table, "cvta.to.param.u64");
}

}  // namespace spillway::test::ptx
