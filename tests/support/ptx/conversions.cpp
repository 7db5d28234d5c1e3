// cvt: every pair of types by way of the widest of its kind.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {
namespace {

using Raw = std::uint64_t[kLanes];  // what a register's lanes hold, from bit 0 on

bool is_float(Type type) {
  return facts(type).kind == Kind::floating;
}
bool is_signed(Type type) {
  return facts(type).kind == Kind::is_signed;
}

template <class T>
T bits_as(std::uint64_t raw) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(raw));
  else
    return std::bit_cast<T>(raw);
}
template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

// All values are exact in a double.
double read_float(std::uint64_t raw, Type type) {
  switch (type) {
    case Type::f64:
      return bits_as<double>(raw);
    case Type::f32:
      return bits_as<float>(raw);
    case Type::bf16:
      return to_float(bf16{static_cast<std::uint16_t>(raw)});
    default:
      return to_float(f16{static_cast<std::uint16_t>(raw)});
  }
}

FloatFormat format_of(Type type) {
  return type == Type::tf32 ? kTf32 : type == Type::bf16 || type == Type::bf16x2 ? kBf16 : kF16;
}

// The processor rounds to f32 as the mode says that is set.
std::uint64_t write_float(double value, Type type, Rounding rounding) {
  if (type == Type::f64) return bits_of(value);
  if (type == Type::f32)
    return value == value ? bits_of(static_cast<float>(value)) : std::uint64_t{0x7fffffff};
  auto const bits = round_to(value, format_of(type), rounding);
  return type == Type::tf32 ? std::uint64_t{bits} << 13 : bits;
}

float flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
}

// What a float becomes as a float or on its way to a whole number.
double prepared(double value, Operation const& o) {
  if (o.flushes && o.type == Type::f32) value = flushed(static_cast<float>(value));
  if (o.immediate != 0) value = round_to_whole(value, static_cast<Rounding>(o.mode));
  if (o.saturates) value = value > 0 ? std::min(value, 1.0) : 0.0;
  return value;
}

void float_to_float(Raw& to, Raw& from, Operation const& o) {
  // A value that is whole needs no other rounding; .relu is mode's highest bit.
  auto const rounding = o.immediate != 0 ? Rounding::nearest : static_cast<Rounding>(o.mode & 0x7f);
  bool const cuts_negative = (o.mode & 0x80) != 0;
  RoundingScope const scope(rounding);
  kept_in_memory(from);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto value = prepared(read_float(from[lane], o.type), o);
    if (cuts_negative && value < 0) value = 0;
    to[lane] = write_float(value, o.to_type, rounding);
    if (o.flushes && o.to_type == Type::f32) to[lane] = bits_of(flushed(bits_as<float>(to[lane])));
  }
  kept_in_memory(to);
}

// What does not fit becomes the nearest that does. Of NaN the documents say: the highest bit where
// either type has 64 bits, else zero.
std::uint64_t whole_number(double value, Type from, Type to) {
  auto const bits = 8 * facts(to).bytes;
  auto const highest = std::uint64_t{1} << (bits - 1);
  if (value != value) return from == Type::f64 || bits == 64 ? highest : 0;
  auto const limit = std::ldexp(1.0, static_cast<int>(bits) - (is_signed(to) ? 1 : 0));
  if (is_signed(to)) {
    if (value >= limit) return highest - 1;
    if (value < -limit) return ~highest + 1;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  if (value >= limit) return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

void float_to_whole(Raw& to, Raw& from, Operation const& o) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto value = read_float(from[lane], o.type);
    if (o.flushes) value = flushed(static_cast<float>(value));
    to[lane] =
        whole_number(round_to_whole(value, static_cast<Rounding>(o.mode)), o.type, o.to_type);
  }
}

// A double that rounds to fewer bits as the whole number itself would: an inexact one is made odd.
double to_odd(std::uint64_t raw, bool is_negative) {
  auto const magnitude = is_negative ? 0 - raw : raw;
  constexpr std::uint64_t exact = std::uint64_t{1} << 53;
  auto const shift = magnitude < exact ? 0 : 11 - std::countl_zero(magnitude);
  auto const cut = magnitude >> shift << shift;
  auto const value =
      std::ldexp(static_cast<double>(magnitude >> shift | (cut != magnitude ? 1 : 0)), shift);
  return is_negative ? -value : value;
}

template <class Float>
std::uint64_t whole_as(std::uint64_t raw, bool has_sign) {
  return bits_of(has_sign ? static_cast<Float>(static_cast<std::int64_t>(raw))
                          : static_cast<Float>(raw));
}

void whole_to_float(Raw& to, Raw& from, Operation const& o) {
  auto const rounding = static_cast<Rounding>(o.mode);
  bool const has_sign = is_signed(o.type);
  RoundingScope const scope(o.to_type == Type::f32 || o.to_type == Type::f64 ? rounding
                                                                             : Rounding::nearest);
  kept_in_memory(from);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto const raw = from[lane];
    bool const is_negative = has_sign && static_cast<std::int64_t>(raw) < 0;
    if (o.to_type == Type::f32)
      to[lane] = whole_as<float>(raw, has_sign);
    else if (o.to_type == Type::f64)
      to[lane] = whole_as<double>(raw, has_sign);
    else
      to[lane] = round_to(to_odd(raw, is_negative), format_of(o.to_type), rounding);
  }
  kept_in_memory(to);
}

std::uint64_t clamped(std::uint64_t raw, bool from_signed, Type to) {
  auto const bits = 8 * facts(to).bytes;
  bool const is_negative = from_signed && static_cast<std::int64_t>(raw) < 0;
  auto const most = ~std::uint64_t{0} >> (64 - bits + (is_signed(to) ? 1 : 0));
  if (!is_negative) return std::min(raw, most);
  if (!is_signed(to)) return 0;
  auto const least = -static_cast<std::int64_t>(most) - 1;
  return static_cast<std::uint64_t>(std::max(static_cast<std::int64_t>(raw), least));
}

void whole_to_whole(Raw& to, Raw& from, Operation const& o) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = o.saturates ? clamped(from[lane], is_signed(o.type), o.to_type) : from[lane];
}

using Convert = void (*)(Raw& to, Raw& from, Operation const&);

// The source is cut to its type and extended to 64 bits, the result is cut to its type and extended
// to its register.
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

// The most frequent conversions of a training program, many lanes at a time.
std::uint16_t rounded_to_bf16(float x) {
  return x == x ? to_bf16(x).bits : std::uint16_t{0x7fff};
}
std::uint16_t rounded_to_f16(float x) {
  return x == x ? to_f16(x).bits : std::uint16_t{0x7fff};
}

// Two numbers into one register: the first into its upper half.
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

// Which roundings a pair may have: those to a whole number, to fewer bits, or none.
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
        auto const mode =
            static_cast<std::uint8_t>(static_cast<unsigned>(rounding) | (relu ? 0x80u : 0u));
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
  auto& tf32 = table.add("cvt.rna.tf32.f32", "w=w", cvt<float_to_float>);
  tf32.to_type = Type::tf32;
  tf32.type = Type::f32;
  tf32.mode = static_cast<std::uint8_t>(Rounding::nearest_away);
}

}  // namespace spillway::test::ptx
