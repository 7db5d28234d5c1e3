// Implements the opcodes that add numbers of several registers: add.cc, addc, sub.cc, subc, mad.cc
// and madc. The carry is in a predicate of its own; for differences it holds the borrow.
#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/wide.hpp"

namespace spillway::test::ptx {
namespace {

enum class Sum : std::uint8_t { add, sub, mad_low, mad_high };

struct SumForm {
  std::string_view first, later, part;  // such as "mad", "madc" and ".lo"
  unsigned operands;
};
constexpr SumForm kSums[] = {{"add", "addc", "", 2},
                             {"sub", "subc", "", 2},
                             {"mad", "madc", ".lo", 3},
                             {"mad", "madc", ".hi", 3}};

constexpr std::uint8_t kReadsCarry = 1, kWritesCarry = 2;

// Returns a result that has one bit more than T: the carry.
template <Sum which, class T, class U = std::make_unsigned_t<T>>
Wide<U> exact(T a, T b, T c, bool carry) {
  switch (which) {
    case Sum::add:
      return Wide<U>{static_cast<U>(a)} + static_cast<U>(b) + carry;
    case Sum::sub:
      return Wide<U>{static_cast<U>(a)} - static_cast<U>(b) - carry;
    case Sum::mad_low:
      return Wide<U>{static_cast<U>(low(a, b))} + static_cast<U>(c) + carry;
    default:
      return Wide<U>{static_cast<U>(high(a, b))} + static_cast<U>(c) + carry;
  }
}

template <Sum which, class T>
void sum(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<T const>(o.from[0]);
  auto const* const b = warp.lanes<T const>(o.from[1]);
  auto const* const c = warp.lanes<T const>(o.from[2]);
  bool const reads = (o.mode & kReadsCarry) != 0, writes = (o.mode & kWritesCarry) != 0;
  auto const carries = reads ? warp.predicate(kCarry) : 0;
  auto known = warp.known[o.from[0]] & warp.known[o.from[1]] & warp.known[o.from[2]];
  if (reads) known &= warp.known[kCarry];
  alignas(64) T values[kLanes];
  Lanes beyond = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto const result = exact<which>(a[lane], b[lane], c[lane], (carries >> lane & 1) != 0);
    values[lane] = static_cast<T>(result);
    beyond |= static_cast<Lanes>(result >> (8 * sizeof(T)) & 1) << lane;
  }
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, known, mask);
  if (!writes) return;
  write_predicate(warp, kCarry, beyond, mask);
  warp.set_known(kCarry, known, mask);
}

template <Sum which, class T>
void add_sum(Table& table, std::string const& type) {
  auto const& [first, later, part, operands] = kSums[static_cast<std::size_t>(which)];
  auto const width = std::to_string(sizeof(T));
  auto letters = width + "=";
  for (unsigned i = 0; i < operands; ++i) letters += width;
  for (auto const mode : {kWritesCarry, kReadsCarry, std::uint8_t{kReadsCarry | kWritesCarry}}) {
    auto const opcode = std::string((mode & kReadsCarry) != 0 ? later : first) + std::string(part) +
                        ((mode & kWritesCarry) != 0 ? ".cc" : "") + type;
    auto& o = table.add(opcode, letters, sum<which, T>);
    o.mode = mode;
    o.tracks_known = true;
  }
}

template <class T>
void add_type(Table& table, std::string const& type) {
  add_sum<Sum::add, T>(table, type);
  add_sum<Sum::sub, T>(table, type);
  add_sum<Sum::mad_low, T>(table, type);
  add_sum<Sum::mad_high, T>(table, type);
}

}  // namespace

void add_carries(Table& table) {
  add_type<std::uint32_t>(table, ".u32");
  add_type<std::int32_t>(table, ".s32");
  add_type<std::uint64_t>(table, ".u64");
  add_type<std::int64_t>(table, ".s64");
}

}  // namespace spillway::test::ptx
