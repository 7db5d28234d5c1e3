// Implements cvt for every pair of types, by way of the widest type of their kind.
#include "tests/support/ptx/conversions.hpp"

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

using Convert = void (*)(Raw& to, Raw& from, Operation const&);

// A register may be wider than its type. So the source is cut to its type and extended to 64 bits,
// and the result is cut to its type and extended to its register.
template <Convert convert>
void cvt(Warp& warp, Operation const& o, Lanes mask) {
  alignas(64) Raw from, to;
  alignas(64) std::uint64_t typed[kLanes];
  resize_lanes(typed, facts(o.type).bytes, warp.lanes<std::byte>(o.from[0]), o.register_bytes,
               false, kAllLanes);
  resize_lanes(from, 8, typed, facts(o.type).bytes, is_signed(o.type), kAllLanes);
  convert(to, from, o);
  resize_lanes(typed, facts(o.to_type).bytes, to, 8, false, kAllLanes);
  resize_lanes(warp.lanes<std::byte>(o.to), o.to_bytes, typed, facts(o.to_type).bytes,
               is_signed(o.to_type), mask);
}

// These are the most frequent conversions of a training program. As plain functions they are
// applied to many lanes at a time.
std::uint16_t rounded_to_bf16(float x) {
  return x == x ? to_bf16(x).bits : std::uint16_t{0x7fff};
}
std::uint16_t rounded_to_f16(float x) {
  return x == x ? to_f16(x).bits : std::uint16_t{0x7fff};
}

// Rounds two numbers into one register; the first operand goes into the upper half.
void pack(Warp& warp, Operation const& o, Lanes mask) {
  alignas(64) Raw from, high, low;
  auto single = o;
  single.to_type = o.to_type == Type::bf16x2 ? Type::bf16 : Type::f16;
  for (auto const& [raw, slot] : {std::pair{&high, o.from[0]}, {&low, o.from[1]}}) {
    resize_lanes(from, 8, warp.lanes<std::byte>(slot), 4, false, kAllLanes);
    float_to_float(*raw, from, single);
  }
  alignas(64) std::uint32_t values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    values[lane] = static_cast<std::uint32_t>(high[lane] << 16 | low[lane]);
  write_lanes(warp, o.to, values, mask);
}

struct Choice {
  std::string name;
  std::uint8_t mode;
  bool to_whole;
};
std::vector<Choice> roundings(bool to_whole) {
  std::vector<Choice> result;
  for (auto const& [rounding, name, integer_name] : kRoundings)
    result.push_back({std::string(to_whole ? integer_name : name),
                      static_cast<std::uint8_t>(rounding), to_whole});
  return result;
}

Execute execute_for(Type to, Type from) {
  if (is_float(from)) return is_float(to) ? cvt<float_to_float> : cvt<float_to_whole>;
  return is_float(to) ? cvt<whole_to_float> : cvt<whole_to_whole>;
}

void add_pair(Table& table, TypeFacts const& to, TypeFacts const& from,
              std::vector<Choice> const& choices) {
  bool const may_flush = to.type == Type::f32 || from.type == Type::f32;
  for (auto const& choice : choices)
    for (auto const* const flush : {"", ".ftz"})
      for (auto const* const saturate : {"", ".sat"}) {
        if (*flush != '\0' && !may_flush) continue;
        auto const types = "." + std::string(to.name) + "." + std::string(from.name);
        auto& o = table.add("cvt" + choice.name + flush + saturate + types, "w=w",
                            execute_for(to.type, from.type));
        o.to_type = to.type;
        o.type = from.type;
        o.mode = choice.mode;
        o.immediate = choice.to_whole ? 1 : 0;
        o.flushes = *flush != '\0';
        o.saturates = *saturate != '\0';
      }
}

// Returns which roundings a conversion may have: to a whole number, to fewer bits, or none.
std::vector<Choice> choices_for(TypeFacts const& to, TypeFacts const& from) {
  std::vector<Choice> const none = {{"", 0, false}};
  if (!is_float(from.type)) return is_float(to.type) ? roundings(false) : none;
  if (!is_float(to.type)) return roundings(true);
  if (to.type != from.type && to.bytes <= from.bytes) return roundings(false);
  auto result = none;
  if (to.type == from.type)
    for (auto const& choice : roundings(true)) result.push_back(choice);
  return result;
}

void add_to_halves(Table& table) {
  for (auto const& [type, name] : {std::pair{Type::bf16, ".bf16"}, {Type::f16, ".f16"}})
    for (auto const rounding : {Rounding::nearest, Rounding::zero})
      for (bool const relu : {false, true}) {
        auto const head = std::string(rounding == Rounding::nearest ? "cvt.rn" : "cvt.rz");
        auto const opcode = head + (relu ? ".relu" : "") + name;
        auto const mode = static_cast<std::uint8_t>(static_cast<unsigned>(rounding) |
                                                    (relu ? kCutsNegative : 0u));
        auto& one = table.add(opcode + ".f32", "w=w", cvt<float_to_float>);
        auto& two = table.add(opcode + "x2.f32", "4=44", pack);
        one.to_type = type;
        two.to_type = type == Type::bf16 ? Type::bf16x2 : Type::f16x2;
        for (auto* const o : {&one, &two}) {
          o->type = Type::f32;
          o->mode = mode;
        }
      }
  add_function<rounded_to_bf16>(table, "cvt.rn.bf16.f32");
  add_function<rounded_to_f16>(table, "cvt.rn.f16.f32");
}

}  // namespace

void add_conversions(Table& table) {
  for (auto const& to : kTypes)
    for (auto const& from : kTypes) {
      auto const fits = [](TypeFacts const& type) {
        return type.type >= Type::u8 && type.type != Type::f16x2 && type.type != Type::bf16x2 &&
               type.type != Type::tf32;
      };
      if (fits(to) && fits(from)) add_pair(table, to, from, choices_for(to, from));
    }
  add_to_halves(table);
  for (auto const& [rounding, name] : {std::pair{Rounding::nearest_away, "cvt.rna.tf32.f32"},
                                       {Rounding::nearest, "cvt.rn.tf32.f32"},
                                       {Rounding::zero, "cvt.rz.tf32.f32"}}) {
    auto& o = table.add(name, "w=w", cvt<float_to_float>);
    o.to_type = Type::tf32;
    o.type = Type::f32;
    o.mode = static_cast<std::uint8_t>(rounding);
  }
}

}  // namespace spillway::test::ptx
