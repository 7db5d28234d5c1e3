// Has what kernels of optimizers have in common: they update the elements of a chunk's parameters
// in place, each element by itself. In bf16 runs a parameter and its remainder together are the
// fp32 master. Moments in bf16 are rounded by random draws, because with a decay of 0.999 most
// steps change them by less than bf16 resolves, and rounding to nearest would undo that.
#pragma once

#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "kernels/formulas/moment_draws.hpp"
#include "kernels/formulas/parameter_ranges.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/portable/masters.hpp"
#include "kernels/portable/read_ahead.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {

// Says which random draws round the moments of an op's elements (MomentDraws).
struct DrawnFrom {
  std::uint64_t seed;
  int chunk;
  std::int64_t first;  // the element of the chunk at which the op starts
};

// Formula has, for one element, a type Element with the master and the moments in fp32, a type Step
// with the numbers that all elements share, and the functions step(control, decay) and
// apply(element, gradient, step). Moments loads an Element, and saves its moments as they are
// stored; if they are bf16, so that 32 random bits round them.
template <class Formula, class G, class Masters, class Moments>
struct UpdateElements {
  G const* gradient;
  double const* control;
  Masters masters;
  Moments moments;
  Formula formula;
  ParameterRange range;
  DrawnFrom drawn_from;

  // Updates the elements [first, last) of `range`, on a host.
  void operator()(std::int64_t first, std::int64_t last) const {
    if (control[control_go] != 1) return;
    auto const step = formula.step(control, range.decay);
    auto const o = *this;  // a local copy, whose pointers the loop's stores cannot change
    if constexpr (Moments::kByDraws) {
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
    auto const step = formula.step(control, range.decay);
    auto const draws = make_draws();
    read_ahead<4>(
        range.offset + first, range.offset + range.count, apart,
        [=, this](std::int64_t i) { return read(i); },
        [&](Read const& e) {
          auto const after = formula.apply(e.before, e.gradient, step);
          masters.save(e.i, after.master);
          if constexpr (Moments::kByDraws) {
            moments.save(e.i, after, draws.of(drawn_from.first + e.i));
          } else {
            moments.save(e.i, after);
          }
        });
  }

 private:
  using Draws = MomentDraws;
  using Step = typename Formula::Step;
  using Element = typename Formula::Element;

  KOKKOS_FUNCTION Draws make_draws() const {
    return {drawn_from.seed, drawn_from.chunk, static_cast<std::uint64_t>(control[control_update])};
  }

  struct Read {
    std::int64_t i;
    Element before;
    float gradient;
  };
  KOKKOS_FUNCTION Read read(std::int64_t i) const {
    return {i, moments.load(masters.load(i), i), to_float(gradient[i])};
  }

  // Draws for whole tiles of MomentDraws at once.
  void update_by_draws(std::int64_t i, std::int64_t last, Step const& step) const {
    auto const draws = make_draws();
    i = update_tiles(i, last, step, draws);
    for (; i < last; ++i) update(i, step, draws.of(drawn_from.first + i));
  }

  // Updates elements up to the end of the last whole tile of MomentDraws. Returns the first element
  // that is not updated.
  std::int64_t update_tiles(std::int64_t i, std::int64_t last, Step const& step,
                            Draws const& draws) const {
    auto const first = drawn_from.first;
    for (; i < last && (first + i) % Draws::kTile != 0; ++i) update(i, step, draws.of(first + i));
    for (; i + Draws::kTile <= last; i += Draws::kTile) update_tile(i, step, draws);
    return i;
  }

  void update_tile(std::int64_t i, Step const& step, Draws const& draws) const {
    std::uint32_t words[Draws::kTile];
    draws.fill((drawn_from.first + i) / Draws::kTile, words);
    auto const o = *this;
#pragma omp simd
    for (std::int64_t j = 0; j < Draws::kTile; ++j) o.update(i + j, step, words[j]);
  }

  // The update of one element is a function of its own because, if a struct is declared within a
  // simd loop, GCC keeps it in memory instead of registers.
  KOKKOS_FUNCTION void update(std::int64_t i, Step const& step) const {
    moments.save(i, updated(i, step));
  }
  KOKKOS_FUNCTION void update(std::int64_t i, Step const& step, std::uint32_t draw) const {
    moments.save(i, updated(i, step), draw);
  }
  KOKKOS_FUNCTION Element updated(std::int64_t i, Step const& step) const {
    auto const before = moments.load(masters.load(i), i);
    auto const after = formula.apply(before, to_float(gradient[i]), step);
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
void launch_update(Exec const& exec, Label const& label, Update const& all) {
  if constexpr (kLikeDevice) {
    auto const threads = div_ceil(all.range.count, kElementsOfThread);
    for_each_unit(exec, label, threads, UpdateOfThread<Update>{all, threads});
  } else {
    for_each_range(exec, label, all.range.count, all);
  }
}

// Calls update(range, first, last) for elements [first, last) of each range, on the host lane. The
// pieces that threads share are cut from all ranges together, since most ranges are small. They
// begin at multiples of kPieceElements of the op's elements.
template <class Update>
void update_in_pieces(Exec const& exec, std::vector<ParameterRange> const& ranges,
                      Update const& update) {
  auto const end = ranges.empty() ? 0 : ranges.back().offset + ranges.back().count;
  for_each_piece(exec, end, kPieceElements, [&](std::int64_t first, std::int64_t last) {
    for (auto const& range : ranges) {
      auto const begin = std::max<std::int64_t>(first - range.offset, 0);
      auto const count = std::min(last - range.offset, range.count);
      if (begin < count) update(range, begin, count);
    }
  });
}

// Kind has `kind`, `Formula`, formula(attributes of the op), typed(operands), and
// moments(Pointers), which returns the Moments.
template <class Kind>
struct UpdateKernel {
  static constexpr auto kind = Kind::kind;

  struct Prepared {
    typename Kind::Formula formula;
    DrawnFrom drawn_from;
    std::vector<ParameterRange> ranges;
    Label label;
  };

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    require_remainder(context, op, o.parameter, o.remainder);
    auto const& a = attributes_of<typename Kind::Attributes>(op);
    return {Kind::formula(a),
            {a.seed, op.chunk, first_element(context, op, a.range)},
            parameter_ranges(context, op, a.range),
            "spillway::" + std::string(name(kind))};
  }
  static auto typed(auto const& o) { return Kind::typed(o); }

  template <class T, class G, class Moment = G>
  static auto update_of(Pointers<kind, T, G, Moment> const& o, Prepared const& prepared,
                        ParameterRange const& range) {
    auto const masters = masters_of(o.parameter, o.remainder);
    auto const moments = Kind::moments(o);
    return UpdateElements<typename Kind::Formula, G, std::remove_const_t<decltype(masters)>,
                          std::remove_const_t<decltype(moments)>>{
        o.gradient, o.control, masters, moments, prepared.formula, range, prepared.drawn_from};
  }

  template <class T, class G, class Moment = G>
  static void run(Exec const& exec, Pointers<kind, T, G, Moment> const& o,
                  Prepared const& prepared) {
    for (auto const& range : prepared.ranges)
      launch_update(exec, prepared.label, update_of(o, prepared, range));
  }
  template <class T, class G, class Moment = G>
  static void run_serially(Exec const& exec, Pointers<kind, T, G, Moment> const& o,
                           Prepared const& prepared) {
    update_in_pieces(exec, prepared.ranges,
                     [&](ParameterRange const& range, std::int64_t first, std::int64_t last) {
                       update_of(o, prepared, range)(first, last);
                     });
  }
};

}  // namespace spillway::SPILLWAY_SPACE
