// Implements what lanes of a warp decide together: vote, match, redux, elect and activemask.
#include <algorithm>
#include <functional>

#include "tests/support/ptx/exchange.hpp"

namespace spillway::test::ptx {
namespace {

// Gives all lanes the same value, which is known if the values of all lanes that take part are.
void tell_all(Warp& warp, Operation const& o, Lanes mask, std::uint32_t value) {
  alignas(64) std::uint32_t values[kLanes];
  std::ranges::fill(values, value);
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, (mask & ~warp.known[o.from[0]]) == 0 ? kAllLanes : 0, mask);
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

void vote(Warp& warp, Operation const& o, Lanes mask) {
  auto const votes = read_predicate(warp, o, 0) & mask;
  auto const how = static_cast<Vote>(o.mode);
  if (how == Vote::ballot) return tell_all(warp, o, mask, votes);
  bool const all = votes == mask, none = votes == 0;
  bool const holds = how == Vote::all ? all : how == Vote::any ? !none : all || none;
  write_predicate(warp, o.to, holds ? kAllLanes : 0, mask);
  warp.set_known(o.to, (mask & ~warp.known[o.from[0]]) == 0 ? kAllLanes : 0, mask);
}

// Picks the lowest lane, where PTX allows any. It is told that it is the one, and all are told
// which it is.
void elect(Warp& warp, Operation const& o, Lanes mask) {
  alignas(64) std::uint32_t values[kLanes];
  std::ranges::fill(values, first_lane(mask));
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, kAllLanes, mask);
  if (o.to2 == 0) return;
  write_predicate(warp, o.to2, mask & (~mask + 1), mask);
  warp.set_known(o.to2, kAllLanes, mask);
}

void activemask(Warp& warp, Operation const& o, Lanes mask) {
  tell_all(warp, o, mask, mask);
}

template <class T>
Lanes equal_lanes(T const* a, unsigned lane, Lanes mask) {
  Lanes result = 0;
  for_each_lane(mask, [&](unsigned other) { result |= Lanes{a[other] == a[lane]} << other; });
  return result;
}
template <class T>
void match_any(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<T const>(o.from[0]);
  need_known(warp, o.from[0], mask, "what is matched");
  alignas(64) std::uint32_t values[kLanes] = {};
  for_each_lane(mask, [&](unsigned lane) { values[lane] = equal_lanes(a, lane, mask); });
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, kAllLanes, mask);
}
template <class T>
void match_all(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<T const>(o.from[0]);
  need_known(warp, o.from[0], mask, "what is matched");
  bool const all = equal_lanes(a, first_lane(mask), mask) == mask;
  tell_all(warp, o, mask, all ? mask : 0);
  if (o.to2 == 0) return;
  write_predicate(warp, o.to2, all ? kAllLanes : 0, mask);
  warp.set_known(o.to2, kAllLanes, mask);
}

struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T, class Combine>
void redux(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<T const>(o.from[0]);
  auto const first = first_lane(mask);
  T result = a[first];
  for_each_lane(mask & ~(Lanes{1} << first),
                [&](unsigned lane) { result = Combine{}(result, a[lane]); });
  tell_all(warp, o, mask, static_cast<std::uint32_t>(result));
}

template <class T>
void add_redux(Table& table, std::string const& type) {
  // Sums with and without a sign have the same bits, and only the latter may wrap around in C++.
  add_exchange(table, "redux.sync.add." + type, "4=4k", redux<std::uint32_t, std::plus<>>);
  add_exchange(table, "redux.sync.min." + type, "4=4k", redux<T, Least>);
  add_exchange(table, "redux.sync.max." + type, "4=4k", redux<T, Most>);
}

}  // namespace

void add_decisions(Table& table) {
  for (auto const& [how, name] :
       {std::pair{Vote::all, "all"}, {Vote::any, "any"}, {Vote::uni, "uni"}})
    add_exchange(table, std::string("vote.sync.") + name + ".pred", "p=pk", vote,
                 static_cast<std::uint8_t>(how));
  add_exchange(table, "vote.sync.ballot.b32", "4=pk", vote,
               static_cast<std::uint8_t>(Vote::ballot));
  add_exchange(table, "match.any.sync.b32", "4=4k", match_any<std::uint32_t>);
  add_exchange(table, "match.any.sync.b64", "4=8k", match_any<std::uint64_t>);
  add_exchange(table, "match.all.sync.b32", "4q=4k", match_all<std::uint32_t>);
  add_exchange(table, "match.all.sync.b64", "4q=8k", match_all<std::uint64_t>);
  add_redux<std::uint32_t>(table, "u32");
  add_redux<std::int32_t>(table, "s32");
  add_exchange(table, "redux.sync.and.b32", "4=4k", redux<std::uint32_t, std::bit_and<>>);
  add_exchange(table, "redux.sync.or.b32", "4=4k", redux<std::uint32_t, std::bit_or<>>);
  add_exchange(table, "redux.sync.xor.b32", "4=4k", redux<std::uint32_t, std::bit_xor<>>);
  add_exchange(table, "elect.sync", "4q=k", elect);
  table.add("activemask.b32", "4=", activemask).tracks_known = true;
}

}  // namespace spillway::test::ptx
