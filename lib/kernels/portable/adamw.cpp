// The op `adamw` updates one chunk in place. In bf16 runs a parameter and its remainder together
// are the fp32 master. Moments in bf16 are rounded by random draws, because with a decay of 0.999
// most steps change them by less than bf16 resolves, and rounding to nearest would undo that.
#include "kernels/formulas/adamw.hpp"

#include "base/check.hpp"
#include "kernels/formulas/moment_draws.hpp"
#include "kernels/formulas/parameter_ranges.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/portable/read_ahead.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::adamw";

// Fp32Masters and SplitMasters read and write masters. An fp32 parameter is its own master.
struct Fp32Masters {
  float* parameter;

  KOKKOS_FUNCTION float load(std::int64_t i) const { return parameter[i]; }
  KOKKOS_FUNCTION void save(std::int64_t i, float master) const { parameter[i] = master; }
};
struct SplitMasters {
  bf16* parameter;
  std::int16_t* remainder;

  KOKKOS_FUNCTION float load(std::int64_t i) const {
    return join_master(parameter[i], remainder[i]);
  }
  KOKKOS_FUNCTION void save(std::int64_t i, float master) const {
    auto const split = split_master(master);
    parameter[i].bits = split.parameter.bits;  // copying the struct would not vectorise
    remainder[i] = split.remainder;
  }
};

// Says which random draws round the moments of an op's elements (MomentDraws).
struct DrawnFrom {
  std::uint64_t seed;
  int chunk;
  std::int64_t first;  // the element of the chunk at which the op starts
};

template <class G, class Masters, class Moment>
struct AdamW {
  G const* gradient;
  double const* control;
  Masters masters;
  Moment* m;
  Moment* v;
  AdamWConstants constants;
  ParameterRange range;
  DrawnFrom drawn_from;

  // Updates the elements [first, last) of `range`, on a host.
  void operator()(std::int64_t first, std::int64_t last) const {
    if (control[control_go] != 1) return;
    auto const step = adamw_step(constants, control, range.decay);
    auto const o = *this;  // a local copy, whose pointers the loop's stores cannot change
    if constexpr (std::is_same_v<Moment, bf16>) {
      o.update_by_draws(range.offset + first, range.offset + last, step);
    } else {
#pragma omp simd
      for (std::int64_t i = range.offset + first; i < range.offset + last; ++i) o.update(i, step);
    }
  }

  // Updates the elements first, first + apart, first + 2 apart, ... of `range`, on a device. Some
  // are read before the first of them is written, so that a thread waits for memory less often.
  KOKKOS_FUNCTION void update_apart(std::int64_t first, std::int64_t apart) const {
    if (control[control_go] != 1) return;
    auto const step = adamw_step(constants, control, range.decay);
    auto const draws = make_draws();
    read_ahead<4>(
        range.offset + first, range.offset + range.count, apart,
        [=, this](std::int64_t i) { return read(i); },
        [&](Element const& element) { write(element, step, draws); });
  }

 private:
  using Draws = MomentDraws;

  KOKKOS_FUNCTION Draws make_draws() const {
    return {drawn_from.seed, drawn_from.chunk, static_cast<std::uint64_t>(control[control_update])};
  }

  struct Element {
    std::int64_t i;
    AdamWElement before;
    float gradient;
  };
  KOKKOS_FUNCTION Element read(std::int64_t i) const {
    return {i, {masters.load(i), to_float(m[i]), to_float(v[i])}, to_float(gradient[i])};
  }
  KOKKOS_FUNCTION void write(Element const& e, AdamWStep const& step, Draws const& draws) const {
    auto const after = adamw(e.before, e.gradient, step);
    masters.save(e.i, after.master);
    if constexpr (std::is_same_v<Moment, bf16>) {
      auto const draw = draws.of(drawn_from.first + e.i);
      m[e.i] = to_bf16_by_draw(after.m, draw & 0xffffu);
      v[e.i] = to_bf16_by_draw(after.v, draw >> 16);
    } else {
      m[e.i] = after.m;
      v[e.i] = after.v;
    }
  }

  // Draws for whole tiles of MomentDraws at once.
  void update_by_draws(std::int64_t i, std::int64_t last, AdamWStep const& step) const {
    auto const draws = make_draws();
    i = update_tiles(i, last, step, draws);
    for (; i < last; ++i) update(i, step, draws.of(drawn_from.first + i));
  }

  // Updates elements up to the end of the last whole tile of MomentDraws. Returns the first element
  // that is not updated.
  std::int64_t update_tiles(std::int64_t i, std::int64_t last, AdamWStep const& step,
                            Draws const& draws) const {
    auto const first = drawn_from.first;
    for (; i < last && (first + i) % Draws::kTile != 0; ++i) update(i, step, draws.of(first + i));
    for (; i + Draws::kTile <= last; i += Draws::kTile) update_tile(i, step, draws);
    return i;
  }

  void update_tile(std::int64_t i, AdamWStep const& step, Draws const& draws) const {
    std::uint32_t words[Draws::kTile];
    draws.fill((drawn_from.first + i) / Draws::kTile, words);
    auto const o = *this;
#pragma omp simd
    for (std::int64_t j = 0; j < Draws::kTile; ++j) o.update(i + j, step, words[j]);
  }

  // The update of one element is a function of its own because, if a struct is declared within a
  // simd loop, GCC keeps it in memory instead of registers.
  KOKKOS_FUNCTION void update(std::int64_t i, AdamWStep const& step) const {
    auto const after = updated(i, step);
    m[i] = store<Moment>(after.m);
    v[i] = store<Moment>(after.v);
  }
  KOKKOS_FUNCTION void update(std::int64_t i, AdamWStep const& step, std::uint32_t draw) const {
    auto const after = updated(i, step);
    m[i].bits = to_bf16_by_draw(after.m, draw & 0xffffu).bits;
    v[i].bits = to_bf16_by_draw(after.v, draw >> 16).bits;
  }
  KOKKOS_FUNCTION AdamWElement updated(std::int64_t i, AdamWStep const& step) const {
    AdamWElement const before{masters.load(i), to_float(m[i]), to_float(v[i])};
    auto const after = adamw(before, to_float(gradient[i]), step);
    masters.save(i, after.master);
    return after;
  }
};

// What all elements share is computed in fp64, which many devices do slowly, so a device's thread
// computes it once for kElementsOfThread elements. They lie as far apart as there are threads, so
// that neighbouring threads take neighbouring elements.
constexpr std::int64_t kElementsOfThread = 16;
template <class Update>
struct UpdateOfThread {
  Update all;
  std::int64_t threads;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const { all.update_apart(thread, threads); }
};

template <class Update>
void launch_update(Exec const& exec, Update const& all) {
  if constexpr (kLikeDevice) {
    auto const threads = div_ceil(all.range.count, kElementsOfThread);
    for_each_unit(exec, label, threads, UpdateOfThread<Update>{all, threads});
  } else {
    for_each_range(exec, label, all.range.count, all);
  }
}

struct Prepared {
  AdamWConstants constants;
  DrawnFrom drawn_from;
  std::vector<ParameterRange> ranges;
};

Fp32Masters masters_of(float* parameter, std::int16_t*) {
  return {parameter};
}
SplitMasters masters_of(bf16* parameter, std::int16_t* remainder) {
  return {parameter, remainder};
}

template <class T, class G, class Moment>
auto update_of(Pointers<OpKind::adamw, T, G, Moment> const& o, Prepared const& prepared,
               ParameterRange const& range) {
  auto const masters = masters_of(o.parameter, o.remainder);
  return AdamW<G, std::remove_const_t<decltype(masters)>, Moment>{
      o.gradient, o.control, masters, o.m, o.v, prepared.constants, range, prepared.drawn_from};
}

struct AdamWKernel {
  static constexpr auto kind = OpKind::adamw;

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    check(is_present(o.remainder) == (dtype(context, o.parameter) == DType::bf16), name(op.kind),
          "a remainder belongs to bf16 parameters, and to no others");
    auto const& a = attributes_of<AdamWAttributes>(op);
    return {{a.beta1, a.beta2, a.eps, a.weight_decay},
            {a.seed, op.chunk, first_element(context, op, a.range)},
            parameter_ranges(context, op, a.range)};
  }
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient, o.m); }

  template <class T, class G, class Moment>
  static void run(Exec const& exec, Pointers<OpKind::adamw, T, G, Moment> const& o,
                  Prepared const& prepared) {
    for (auto const& range : prepared.ranges) launch_update(exec, update_of(o, prepared, range));
  }

  // On the host lane, the pieces that threads share are cut from the ranges of all parameters
  // together, since most ranges are small.
  template <class T, class G, class Moment>
  static void run_serially(Exec const& exec, Pointers<OpKind::adamw, T, G, Moment> const& o,
                           Prepared const& prepared) {
    auto const& ranges = prepared.ranges;
    auto const end = ranges.empty() ? 0 : ranges.back().offset + ranges.back().count;
    for_each_piece(exec, end, kPieceElements, [&](std::int64_t first, std::int64_t last) {
      for (auto const& range : ranges) {
        auto const begin = std::max<std::int64_t>(first - range.offset, 0);
        auto const count = std::min(last - range.offset, range.count);
        if (begin < count) update_of(o, prepared, range)(begin, count);
      }
    });
  }
};

}  // namespace

Kernel kernel_adamw() {
  return typed_kernel<AdamWKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
