// Implements the logic of predicates. A result is known where known operands decide it: false and
// anything is false.
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

struct Predicate {
  Lanes value, known;
};

Predicate read(Warp const& warp, Operation const& o, unsigned n) {
  return {read_predicate(warp, o, n), warp.known[o.from[n]]};
}

Predicate both(Predicate a, Predicate b) {
  return {a.value & b.value, (a.known & b.known) | (a.known & ~a.value) | (b.known & ~b.value)};
}
Predicate either(Predicate a, Predicate b) {
  return {a.value | b.value, (a.known & b.known) | (a.known & a.value) | (b.known & b.value)};
}
Predicate differs(Predicate a, Predicate b) {
  return {a.value ^ b.value, a.known & b.known};
}
Predicate inverse(Predicate a, Predicate /*b*/) {
  return {~a.value, a.known};
}
Predicate same(Predicate a, Predicate /*b*/) {
  return a;
}

template <Predicate (*f)(Predicate, Predicate)>
void logic(Warp& warp, Operation const& o, Lanes mask) {
  auto const result = f(read(warp, o, 0), read(warp, o, 1));
  write_predicate(warp, o.to, result.value, mask);
  warp.set_known(o.to, result.known, mask);
}

}  // namespace

void add_predicates(Table& table) {
  table.add("and.pred", "p=pp", logic<both>).tracks_known = true;
  table.add("or.pred", "p=pp", logic<either>).tracks_known = true;
  table.add("xor.pred", "p=pp", logic<differs>).tracks_known = true;
  table.add("not.pred", "p=p", logic<inverse>).tracks_known = true;
  table.add("mov.pred", "p=p", logic<same>).tracks_known = true;
}

}  // namespace spillway::test::ptx
