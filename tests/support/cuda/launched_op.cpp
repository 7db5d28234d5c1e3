#include "tests/support/cuda/launched_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {
namespace {

thread_local LaunchedOp* t_op = nullptr;

bool may_touch(LaunchedOp const& op, State const& all, MemoryAccess const& access) {
  bool const is_operand = std::ranges::any_of(op.accesses, [&](MemoryAccess const& may) {
    return may.range.holds(access.range) && (may.writes || !access.writes);
  });
  return is_operand || all.allocations.around(access.range.first).second != nullptr ||
         all.code.variable_around(access.range.first, 1).has_value();
}

}  // namespace

LaunchedOp* launched_op() {
  return t_op;
}

Launching::Launching(LaunchedOp& op) {
  t_op = &op;
}

Launching::~Launching() {
  t_op = nullptr;
}

void add_to(LaunchedOp& op, State const& all, Piece& piece) {
  if (piece.kind == Piece::Kind::record || piece.kind == Piece::Kind::wait) return;
  for (auto const& access : piece.accesses)
    if (!may_touch(op, all, access))
      complain(fmt::format("'{}' of op {} {} bytes that are not the op's", piece.label, op.name,
                           access.writes ? "writes" : "reads"));
  piece.fresh.insert(piece.fresh.end(), op.fresh.begin(), op.fresh.end());
  op.fresh.clear();
}

std::vector<LaunchedOp::Part> without_overlap(std::vector<LaunchedOp::Part> parts) {
  using Part = LaunchedOp::Part;
  std::ranges::sort(parts, {}, [](Part const& part) { return part.range.first; });
  bool const overlap = std::ranges::adjacent_find(parts, [](Part const& a, Part const& b) {
                         return a.range.overlaps(b.range);
                       }) != parts.end();
  if (!overlap) return parts;
  std::set<std::uintptr_t> cuts;
  for (auto const& part : parts) cuts.insert({part.range.first, part.range.last()});
  std::map<std::uintptr_t, Part> pieces;
  for (auto const& part : parts) {
    for (auto at = cuts.find(part.range.first); *at != part.range.last(); ++at) {
      AddressRange const range{*at, static_cast<std::int64_t>(*std::next(at) - *at)};
      auto const [piece, is_new] = pieces.try_emplace(*at, part.operand, range, part.writes);
      if (!is_new) piece->second.writes = piece->second.writes || part.writes;
    }
  }
  std::vector<Part> result;
  for (auto const& [first, piece] : pieces) result.push_back(piece);
  return result;
}

}  // namespace spillway::test::cuda
