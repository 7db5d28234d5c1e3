// The op `dequantize` makes a matrix of the bytes that a quantized parameter has, some neighbouring
// elements at a time. What these share they look up once.
#include "kernels/formulas/dequantize.hpp"

#include <type_traits>

#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::dequantize";

struct Prepared {
  Quantization form;
  std::int64_t rows, columns;
};

template <class T, class Elements>
struct Dequantize {
  // On a device a thread writes 16 bytes at once, beside those of its neighbours.
  static constexpr std::int64_t kPiece = kLikeDevice ? 16 / sizeof(T) : 4096;
  struct alignas(16) Group {
    T at[16 / sizeof(T)];
  };

  Elements elements;
  T* w;
  std::int64_t n;
  bool is_aligned;

  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    auto const first = piece * kPiece, last = first + kPiece < n ? first + kPiece : n;
    auto const unit = elements.unit();
    bool const is_whole = is_aligned && last - first == kPiece;
    if (kLikeDevice && is_whole && first / unit == (last - 1) / unit) return write_group(first);
    for (auto at = first; at < last;) {
      auto const end = (at / unit + 1) * unit;
      write(at, end < last ? end : last);
      at = end;
    }
  }

 private:
  // Writes elements with one scale.
  KOKKOS_FUNCTION void write(std::int64_t first, std::int64_t last) const {
    auto const o = *this;  // a local copy, whose pointers the loop's stores cannot change
    float const scale = o.elements.scale(first / o.elements.unit());
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) o.w[i] = store<T>(o.elements.value(i, scale));
  }
  KOKKOS_FUNCTION void write_group(std::int64_t first) const {
    float const scale = elements.scale(first / elements.unit());
    Group group;
    for (int k = 0; k < static_cast<int>(16 / sizeof(T)); ++k)
      group.at[k] = store<T>(elements.value(first + k, scale));
    *reinterpret_cast<Group*>(w + first) = group;
  }
};

// Calls use(elements), where these know what the form does.
template <class Use>
void with_elements(std::uint8_t const* bytes, Prepared const& p, Use const& use) {
  if (p.form == Quantization::int8)
    use(Int8Elements(bytes, p.rows, p.columns));
  else
    use(Nf4Elements(bytes, p.rows, p.columns));
}

struct DequantizeKernel {
  static constexpr auto kind = OpKind::dequantize;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const o = operands<kind>(op);
    Prepared const p{attributes_of<DequantizeAttributes>(op).form, o.w.shape[0], o.w.shape[1]};
    check(p.form != Quantization::none, name(kind), "its bytes have no form");
    check(element_count(o.bytes.shape) == quantized_bytes(p.form, p.rows, p.columns).all,
          name(kind), "has not the bytes of its matrix");
    return p;
  }
  static auto typed(auto const& o) { return std::tie(o.w); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::dequantize, T> const& o, Prepared const& p) {
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(o.w) % 16 == 0;
    with_elements(o.bytes, p, [&]<class Elements>(Elements const& elements) {
      using Pieces = Dequantize<T, Elements>;
      auto const n = p.rows * p.columns;
      for_each_unit(exec, label, div_ceil(n, Pieces::kPiece), Pieces{elements, o.w, n, is_aligned});
    });
  }

  template <class T>
  static void run_serially(Pointers<OpKind::dequantize, T> const& o, Prepared const& p) {
    with_elements(o.bytes, p, [&](auto const& elements) {
      for (std::int64_t i = 0; i < p.rows * p.columns; ++i)
        o.w[i] = store<T>(elements.value(i, elements.scale(i / elements.unit())));
    });
  }
};

}  // namespace

Kernel kernel_dequantize() {
  return typed_kernel<DequantizeKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
