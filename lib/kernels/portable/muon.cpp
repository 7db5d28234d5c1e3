// The op `muon` updates one chunk in place, parameter by parameter. A matrix's momentum is divided
// by its norm and made orthogonal by the iteration of Newton and Schulz, whose products are
// chain_product.hpp's. The iteration works on the matrix as it has no more rows than columns. A
// parameter with an element in v for each of its own is no matrix to Muon and is updated by AdamW.
#include "kernels/formulas/muon.hpp"

#include <utility>
#include <vector>

#include "kernels/formulas/whole_parameters.hpp"
#include "kernels/portable/adamw_moments.hpp"
#include "kernels/portable/chain_product.hpp"
#include "kernels/portable/lane.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

// Holds what the workspace has for one matrix: `wide` and its transpose `tall`, room for the next
// `wide`, two matrices of few x few, sums of squares of rows, and the norm.
struct Scratch {
  double *norm, *squares;
  float *wide, *tall, *next, *gram, *polynomial;

  static Scratch in(void* workspace, WholeParameter const& p) {
    auto* const norm = static_cast<double*>(workspace);
    auto* const wide = reinterpret_cast<float*>(norm + doubles(p));
    auto const all = p.elements();
    auto* const gram = wide + 3 * all;
    return {norm, norm + 1, wide, wide + all, wide + 2 * all, gram, gram + few(p) * few(p)};
  }
  static std::int64_t bytes(WholeParameter const& p) {
    auto const floats = 3 * p.elements() + 2 * few(p) * few(p);
    return doubles(p) * size_bytes(DType::f64) + floats * size_bytes(DType::f32);
  }
  static std::int64_t few(WholeParameter const& p) { return std::min(p.rows, p.columns); }
  static std::int64_t doubles(WholeParameter const& p) {
    return round_up<std::int64_t>(1 + p.rows, 8);  // so that vectors of the matrices are aligned
  }
};

// One matrix. What is made orthogonal lies in `given`, as the parameter does.
template <class G, class Masters>
struct Matrix {
  G const* gradient;
  double const* control;
  Masters masters;
  float* m;
  MuonFormula formula;
  std::int64_t offset, rows, columns;
  bool decay;
  double *norm, *squares;
  float* given;

  KOKKOS_FUNCTION bool goes() const { return control[control_go] == 1; }
  KOKKOS_FUNCTION MuonStep step() const { return formula.step(control, decay); }
  KOKKOS_FUNCTION void move(std::int64_t i, MuonStep const& step) const {
    auto const at = offset + i;
    masters.save(at, std::fma(-step.lr, given[i], masters.load(at) * step.keep));
  }
};

// Moves a row's momentum, and sums the squares of its direction.
template <class All>
struct MoveMomentum {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t i) const {
    auto const a = all;
    if (!a.goes()) return;
    auto const step = a.step();
    auto const first = i * a.columns;
    row.for_columns(a.columns, [=](std::int64_t j) {
      auto const at = first + j;
      auto const e = MuonFormula::moved(a.m[at], to_float(a.gradient[a.offset + at]), step);
      a.m[at] = e.m;
      a.given[at] = e.direction;
    });
    double const sum = row.template sum_columns<double>(a.columns, [=](std::int64_t j) {
      double const direction = a.given[first + j];
      return direction * direction;
    });
    row.once([=] { a.squares[i] = sum; });
  }
};

template <class All>
struct FindNorm {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t) const {
    auto const a = all;
    if (!a.goes()) return;
    double const sum =
        row.template sum_columns<double>(a.rows, [=](std::int64_t i) { return a.squares[i]; });
    row.once([=] { *a.norm = std::max(std::sqrt(sum), double{NewtonSchulz::eps}); });
  }
};

template <class All>
struct Normalise {
  All all;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    if (!all.goes()) return;
    auto const norm = static_cast<float>(*all.norm);
    for (auto i = first; i < last; ++i) all.given[i] /= norm;
  }
};

template <class All>
struct MoveMasters {
  All all;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    auto const a = all;
    if (!a.goes()) return;
    auto const step = a.step();
#pragma omp simd
    for (auto i = first; i < last; ++i) a.move(i, step);
  }
};

// Copies the transpose of a matrix, a square at a time. If there is no step, nothing has written
// it.
struct Transpose {
  static constexpr std::int64_t kSquare = 32;

  float const* from;
  float* to;
  std::int64_t rows, columns;  // of `from`
  double const* go;

  std::int64_t units() const { return div_ceil(rows, kSquare) * squares_of_row(); }
  KOKKOS_FUNCTION void operator()(std::int64_t unit) const { on_host(unit); }
  KOKKOS_FUNCTION void on_host(std::int64_t unit) const {
    if (*go != 1) return;
    auto const row = unit / squares_of_row() * kSquare, column = unit % squares_of_row() * kSquare;
    for (auto i = row; i < row + kSquare && i < rows; ++i)
      for (auto j = column; j < column + kSquare && j < columns; ++j)
        to[j * rows + i] = from[i * columns + j];
  }

 private:
  KOKKOS_FUNCTION std::int64_t squares_of_row() const { return (columns + kSquare - 1) / kSquare; }
};

struct Labels {
  Label momentum = "spillway::muon_momentum", norm = "spillway::muon_norm",
        normalise = "spillway::muon_normalise", transpose = "spillway::muon_transpose",
        product = "spillway::muon_product", masters = "spillway::muon",
        adamw = "spillway::muon_adamw";
};
Labels const labels;

template <class Lane>
void multiply(Lane const& lane, ChainFactors const& factors) {
  if constexpr (Lane::kDevice) {
    ChainOnDevice const product{factors};
    lane.units(labels.product, product.units(), product);
  } else {
    ChainOnHost const product{factors};
    lane.units(labels.product, product.units(), product);
  }
}

template <class Lane>
void transpose(Lane const& lane, float const* from, float* to, std::int64_t rows,
               std::int64_t columns, double const* go) {
  Transpose const all{from, to, rows, columns, go};
  lane.units(labels.transpose, all.units(), all);
}

// Makes the matrix in s.wide, of few x many elements, nearly orthogonal. Returns where it is then.
template <class Lane>
float* orthogonalise(Lane const& lane, Scratch s, std::int64_t few, std::int64_t many,
                     double const* go) {
  using N = NewtonSchulz;
  for (int i = 0; i < kMuonIterations; ++i) {
    if (i > 0) transpose(lane, s.wide, s.tall, few, many, go);
    multiply(lane, {s.wide, s.tall, nullptr, s.gram, few, few, many, 1, 0, go});
    multiply(lane, {s.gram, s.gram, s.gram, s.polynomial, few, few, few, N::c, N::b, go});
    multiply(lane, {s.polynomial, s.wide, s.wide, s.next, few, many, few, 1, N::a, go});
    std::swap(s.wide, s.next);
  }
  return s.wide;
}

template <class Lane, class All>
void update_matrix(Lane const& lane, All all, Scratch const& s) {
  auto const [rows, columns] = std::pair(all.rows, all.columns);
  bool const is_tall = rows > columns;
  auto const few = is_tall ? columns : rows, many = is_tall ? rows : columns;
  all.given = is_tall ? s.tall : s.wide;
  lane.rows(labels.momentum, rows, 2 * columns, MoveMomentum<All>{all});
  lane.rows(labels.norm, 1, rows, FindNorm<All>{all});
  lane.range(labels.normalise, rows * columns, Normalise<All>{all});
  auto const* const go = all.control + control_go;
  transpose(lane, all.given, is_tall ? s.wide : s.tall, rows, columns, go);
  auto* const orthogonal = orthogonalise(lane, s, few, many, go);
  if (is_tall)
    transpose(lane, orthogonal, s.tall, few, many, go);
  else
    all.given = orthogonal;
  lane.range(labels.masters, rows * columns, MoveMasters<All>{all});
}

struct Muon {
  static constexpr auto kind = OpKind::muon;

  struct Prepared {
    MuonAttributes attributes;
    std::vector<WholeParameter> parameters;
    std::vector<ElementRange> m_parts, v_parts;

    bool is_matrix(WholeParameter const& p) const {
      if (v_parts.empty()) return true;
      auto const [first, last] = v_parts[static_cast<std::size_t>(p.number)];
      return last - first != p.elements();
    }
  };

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    require_remainder(context, op, o.parameter, o.remainder);
    return {attributes_of<MuonAttributes>(op), whole_parameters(context, op),
            parts_of(context, op, "m"), parts_of(context, op, "v")};
  }
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const prepared = prepare(context, op);
    std::int64_t most = 0;
    for (auto const& p : prepared.parameters)
      if (prepared.is_matrix(p)) most = std::max(most, Scratch::bytes(p));
    return most;
  }

  template <class T, class G>
  static void run(Exec const& exec, Pointers<kind, T, G> const& o, Prepared const& prepared) {
    update_all(OnSpace{exec}, o, prepared);
  }
  template <class T, class G>
  static void run_serially(Exec const& exec, Pointers<kind, T, G> const& o,
                           Prepared const& prepared) {
    update_all(OnHostLane{exec}, o, prepared);
  }

 private:
  template <class Lane, class T, class G>
  static void update_all(Lane const& lane, Pointers<kind, T, G> const& o,
                         Prepared const& prepared) {
    auto const masters = masters_of(o.parameter, o.remainder);
    auto const& a = prepared.attributes;
    for (auto const& p : prepared.parameters) {
      auto* const m = o.m + prepared.m_parts[static_cast<std::size_t>(p.number)].first;
      if (!prepared.is_matrix(p)) {
        auto* const v = o.v + prepared.v_parts[static_cast<std::size_t>(p.number)].first;
        update_by_adamw(lane, o, {m, v}, a.adamw, p);
        continue;
      }
      auto const s = Scratch::in(o.workspace, p);
      update_matrix(
          lane,
          Matrix<G, std::remove_const_t<decltype(masters)>>{
              o.gradient,
              o.control,
              masters,
              m,
              {a.momentum, a.weight_decay, MuonFormula::ratio(a.adjust_lr, p.rows, p.columns)},
              p.offset,
              p.rows,
              p.columns,
              p.decay,
              s.norm,
              s.squares,
              s.wide},
          s);
    }
  }

  template <class Lane, class T, class G>
  static void update_by_adamw(Lane const& lane, Pointers<kind, T, G> const& o,
                              AdamWMoments<float> const& moments, AdamWAttributes const& a,
                              WholeParameter const& p) {
    auto* const remainder = o.remainder == nullptr ? nullptr : o.remainder + p.offset;
    auto const masters = masters_of(o.parameter + p.offset, remainder);
    using Masters = std::remove_const_t<decltype(masters)>;
    UpdateElements<AdamWFormula, G, Masters, AdamWMoments<float>> const update{
        o.gradient + p.offset,      o.control, masters, moments, adamw_formula(a),
        {0, p.elements(), p.decay}, {}};
    if constexpr (std::is_same_v<Lane, OnSpace>)
      launch_update(lane.exec, labels.adamw, update);
    else
      lane.range(labels.adamw, p.elements(), update);
  }
};

}  // namespace

Kernel kernel_muon() {
  return typed_kernel<Muon>();
}

}  // namespace spillway::SPILLWAY_SPACE
