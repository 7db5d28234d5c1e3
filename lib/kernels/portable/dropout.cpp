// The op `dropout` computes y = x / (1 - p) where a random number is >= p, and y = 0 elsewhere.
#include "kernels/formulas/dropout.hpp"

#include "base/check.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::dropout";

static_assert(kDropoutRows % kDropoutDraws == 0);

struct Prepared {
  // `elements` is the number of elements that the op has of each sample, and `first_block` numbers
  // the Philox block of the first one.
  std::int64_t samples, elements, first_block;
  float p, scale;
  std::uint64_t seed, origin;

  std::int64_t blocks() const { return div_ceil<std::int64_t>(elements, kDropoutDraws); }
};

template <class T>
struct Dropout {
  Pointers<OpKind::dropout, T> o;
  Prepared prepared;
  std::int64_t blocks;  // Philox blocks of random numbers per sample

  // Computes y for the Philox blocks [first, last), with kDropoutDraws elements for each. A
  // sample's last block may have fewer elements.
  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    auto const whole = prepared.elements / kDropoutDraws;
    while (first < last) {
      auto const sample = first / blocks, begin = first % blocks;
      auto const left = last - first;
      auto const end = begin + left < blocks ? begin + left : blocks;
      drop_blocks(sample, begin, end < whole ? end : whole);
      if (end > whole) drop_tail(sample, whole);
      first += end - begin;
    }
  }

 private:
  KOKKOS_FUNCTION void drop_blocks(std::int64_t sample, std::int64_t begin,
                                   std::int64_t end) const {
    auto const* const in = o.x + sample * prepared.elements;
    auto* const out = o.y + sample * prepared.elements;
    auto const number = static_cast<std::uint64_t>(o.samples[sample]);
    auto const local = prepared;
#pragma omp simd
    for (std::int64_t block = begin; block < end; ++block)
      drop_block(local, number, block, in + block * kDropoutDraws, out + block * kDropoutDraws);
  }

  // drop_block is a function of its own because, if a struct is declared within a simd loop, GCC
  // keeps it in memory instead of registers.
  KOKKOS_FUNCTION static void drop_block(Prepared const& prepared, std::uint64_t sample,
                                         std::int64_t block, T const* in, T* out) {
    auto const draws = dropout_draws(prepared.seed, prepared.origin, sample,
                                     static_cast<std::uint64_t>(prepared.first_block + block));
    for (int k = 0; k < kDropoutDraws; ++k)
      out[k] = store<T>(to_float(in[k]) * dropout_factor(draws.x[k], prepared.p, prepared.scale));
  }

  KOKKOS_FUNCTION void drop_tail(std::int64_t sample, std::int64_t block) const {
    auto const draws =
        dropout_draws(prepared.seed, prepared.origin, static_cast<std::uint64_t>(o.samples[sample]),
                      static_cast<std::uint64_t>(prepared.first_block + block));
    for (auto i = block * kDropoutDraws; i < prepared.elements; ++i) {
      auto const at = sample * prepared.elements + i;
      auto const draw = draws.x[i % kDropoutDraws];
      o.y[at] = store<T>(to_float(o.x[at]) * dropout_factor(draw, prepared.p, prepared.scale));
    }
  }
};

struct DropoutKernel {
  static constexpr auto kind = OpKind::dropout;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const o = operands<kind>(op);
    auto const n = element_count(o.y.shape), samples = element_count(o.samples.shape);
    auto const& attributes = attributes_of<DropoutAttributes>(op);
    check(n == samples * attributes.sequence * o.y.shape[1], name(op.kind),
          "its rows are not those of its samples");
    check(attributes.first_row % kDropoutRows == 0, name(op.kind),
          "its rows begin within a block of random numbers");
    double const p = attributes.p;
    check(p >= 0 && p < 1, name(op.kind), "the share that it drops is none");
    return {samples,
            div_exact(n, samples),
            attributes.first_row * o.y.shape[1] / kDropoutDraws,
            static_cast<float>(p),
            static_cast<float>(1 / (1 - p)),
            attributes.seed,
            attributes.origin};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::dropout, T> const& o,
                  Prepared const& prepared) {
    for_each_range(exec, label, prepared.samples * prepared.blocks(),
                   Dropout<T>{o, prepared, prepared.blocks()});
  }

  // The serial reference draws the random numbers for each element by itself.
  template <class T>
  static void run_serially(Pointers<OpKind::dropout, T> const& o, Prepared const& prepared) {
    for (std::int64_t sample = 0; sample < prepared.samples; ++sample)
      for (std::int64_t i = 0; i < prepared.elements; ++i) {
        auto const draws = dropout_draws(
            prepared.seed, prepared.origin, static_cast<std::uint64_t>(o.samples[sample]),
            static_cast<std::uint64_t>(prepared.first_block + i / kDropoutDraws));
        bool const keep = uniform01(draws.x[i % kDropoutDraws]) >= prepared.p;
        auto const at = sample * prepared.elements + i;
        o.y[at] = store<T>(keep ? to_float(o.x[at]) * prepared.scale : 0.0f);
      }
  }
};

}  // namespace

Kernel kernel_dropout() {
  return typed_kernel<DropoutKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
