#include "tests/support/cuda/launched_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {
namespace {

thread_local LaunchedOp* t_op = nullptr;

bool is_operand(LaunchedOp const& op, MemoryAccess const& access) {
  return std::ranges::any_of(op.accesses, [&](MemoryAccess const& may) {
    return may.range.holds(access.range) && (may.writes || !access.writes);
  });
}

bool is_from_cuda(State const& all, AddressRange const& range) {
  return all.allocations.around(range.first).second != nullptr ||
         all.code.variable_around(range.first, 1).has_value();
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
  piece.is_aside = true;
  for (auto const& access : piece.accesses) {
    bool const is_own = is_operand(op, access);
    if (!is_own && is_from_cuda(all, access.range)) continue;
    piece.is_aside = false;
    if (!is_own)
      complain(fmt::format("'{}' of op {} {} bytes that are not the op's", piece.label, op.name,
                           access.writes ? "writes" : "reads"));
  }
  if (piece.is_aside) return;
  piece.fresh.insert(piece.fresh.end(), op.fresh.begin(), op.fresh.end());
  piece.stuck = piece.stuck || op.stuck;
  op.fresh.clear();
  op.stuck = false;
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
