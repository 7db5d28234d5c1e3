// The op `adafactor` updates one chunk in place, parameter by parameter: sums of squares over rows
// and columns come first, then the averages of them, then the root mean square of all directions,
// then the masters. Sums over rows are as `sum_lanes.hpp` orders them, and those over columns are
// taken in partitions of rows (partitions.hpp).
#include "kernels/formulas/adafactor.hpp"

#include <memory>
#include <vector>

#include "kernels/formulas/whole_parameters.hpp"
#include "kernels/portable/lane.hpp"
#include "kernels/portable/masters.hpp"
#include "kernels/portable/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

// Holds what the workspace has for one parameter.
struct Scratch {
  double *squares, *masters, *directions;  // sums of squares of each row
  double* sizes;                           // the mean of all rows' averages, and the step's size
  float* columns;                          // sums of squares of each column of each partition

  static Scratch in(void* workspace, std::int64_t rows) {
    auto* const first = static_cast<double*>(workspace);
    return {first + 2, first + 2 + rows, first + 2 + 2 * rows, first,
            reinterpret_cast<float*>(first + 2 + 3 * rows)};
  }
  static std::int64_t bytes(WholeParameter const& p) {
    auto const partitions = p.is_matrix ? Partitions::of(p.rows).count : 0;
    return (2 + 3 * p.rows) * size_bytes(DType::f64) +
           partitions * p.columns * size_bytes(DType::f32);
  }
};

// One parameter and its averages: of a matrix those of rows and of columns, else of all elements.
template <class G, class Masters>
struct Factored {
  G const* gradient;
  double const* control;
  Masters masters;
  float *row_averages, *averages;
  Scratch scratch;
  AdafactorFormula formula;
  std::int64_t offset, rows, columns;
  bool is_matrix, decay;
  Partitions partitions;

  KOKKOS_FUNCTION bool goes() const { return control[control_go] == 1; }
  KOKKOS_FUNCTION AdafactorStep step() const { return formula.step(control, decay); }
  KOKKOS_FUNCTION std::int64_t at(std::int64_t i, std::int64_t j) const {
    return offset + i * columns + j;
  }
  KOKKOS_FUNCTION float scaled(std::int64_t i, std::int64_t j, float scale) const {
    return to_float(gradient[at(i, j)]) * scale;
  }
  KOKKOS_FUNCTION float direction(std::int64_t i, std::int64_t j, float scale, float row) const {
    float const v = is_matrix ? row * averages[j] : averages[j];
    return AdafactorFormula::direction(scaled(i, j, scale), v);
  }
  // Returns by what an average of a column is multiplied in a row.
  KOKKOS_FUNCTION float of_row(std::int64_t i) const {
    return is_matrix ? row_averages[i] / static_cast<float>(scratch.sizes[0]) : 1.0f;
  }
};

// Sums the squares of a row's gradient and masters.
template <class All>
struct SumRow {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t i) const {
    auto const a = all;
    if (!a.goes()) return;
    float const scale = a.step().gradient_scale;
    double const squares = row.template sum_columns<double>(a.columns, [=](std::int64_t j) {
      double const g = a.scaled(i, j, scale);
      return g * g;
    });
    double const masters = row.template sum_columns<double>(a.columns, [=](std::int64_t j) {
      double const w = a.masters.load(a.at(i, j));
      return w * w;
    });
    row.once([=] {
      a.scratch.squares[i] = squares;
      a.scratch.masters[i] = masters;
    });
  }
};

// Sums the squares of each column in a partition of rows.
template <class All>
struct SumColumns {
  All all;

  void operator()(HostRow const& row, std::int64_t partition) const {
    auto const a = all;
    if (!a.goes()) return;
    float const scale = a.step().gradient_scale;
    auto* const sums = a.scratch.columns + partition * a.columns;
    row.for_columns(a.columns, [=](std::int64_t j) { sums[j] = 0; });
    for (auto i = a.partitions.first(partition); i < a.partitions.last(partition); ++i) {
      row.for_columns(a.columns, [=](std::int64_t j) {
        float const g = a.scaled(i, j, scale);
        sums[j] += g * g;
      });
    }
  }
  KOKKOS_FUNCTION void sum_column(std::int64_t partition, std::int64_t j) const {
    if (!all.goes()) return;
    float const scale = all.step().gradient_scale;
    float sum = 0;
    read_ahead<16>(
        all.partitions.first(partition), all.partitions.last(partition), 1,
        [=, this](std::int64_t i) { return all.scaled(i, j, scale); },
        [&](float g) { sum += g * g; });
    all.scratch.columns[partition * all.columns + j] = sum;
  }
};

// Sets the averages of rows to those after the step, and what they are divided by.
template <class All>
struct AverageRows {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t) const {
    auto const a = all;
    if (!a.goes()) return;
    auto const step = a.step();
    row.for_columns(a.rows, [=](std::int64_t i) {
      auto const mean = a.scratch.squares[i] / static_cast<double>(a.columns);
      a.row_averages[i] =
          AdafactorFormula::average(a.row_averages[i], static_cast<float>(mean), step);
    });
    double const sum = row.template sum_columns<double>(
        a.rows, [=](std::int64_t i) { return double{a.row_averages[i]}; });
    row.once([=] { a.scratch.sizes[0] = AdafactorFormula::mean(sum, a.rows); });
  }
};

// Sets the averages of columns, or of a vector's elements, to those after the step.
template <class All>
struct AverageColumns {
  All all;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    if (!all.goes()) return;
    auto const step = all.step();
    for (auto j = first; j < last; ++j)
      all.averages[j] = AdafactorFormula::average(all.averages[j], square(j, step), step);
  }

 private:
  KOKKOS_FUNCTION float square(std::int64_t j, AdafactorStep const& step) const {
    if (!all.is_matrix) {
      float const g = all.scaled(0, j, step.gradient_scale);
      return g * g;
    }
    double sum = 0;
    for (std::int64_t p = 0; p < all.partitions.count; ++p)
      sum += all.scratch.columns[p * all.columns + j];
    return static_cast<float>(sum / static_cast<double>(all.rows));
  }
};

// Sums the squares of a row's directions.
template <class All>
struct SumDirections {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t i) const {
    auto const a = all;
    if (!a.goes()) return;
    float const scale = a.step().gradient_scale, of_row = a.of_row(i);
    double const sum = row.template sum_columns<double>(a.columns, [=](std::int64_t j) {
      double const direction = a.direction(i, j, scale, of_row);
      return direction * direction;
    });
    row.once([=] { a.scratch.directions[i] = sum; });
  }
};

template <class All>
struct FindSize {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t) const {
    auto const a = all;
    if (!a.goes()) return;
    auto const sum = [&](double const* of) {
      return row.template sum_columns<double>(a.rows, [=](std::int64_t i) { return of[i]; });
    };
    double const masters = sum(a.scratch.masters), directions = sum(a.scratch.directions);
    row.once([=] {
      a.scratch.sizes[1] = a.formula.size(masters, directions, a.rows * a.columns, a.step());
    });
  }
};

template <class All>
struct MoveMasters {
  All all;

  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t i) const {
    auto const a = all;
    if (!a.goes()) return;
    auto const step = a.step();
    float const of_row = a.of_row(i), size = static_cast<float>(a.scratch.sizes[1]);
    row.for_columns(a.columns, [=](std::int64_t j) {
      float const direction = a.direction(i, j, step.gradient_scale, of_row);
      auto const place = a.at(i, j);
      a.masters.save(place, std::fma(-size, direction, a.masters.load(place) * step.keep));
    });
  }
};

struct Labels {
  Label sum_row = "spillway::adafactor_sum_row", sum_columns = "spillway::adafactor_sum_columns",
        average_rows = "spillway::adafactor_average_rows",
        average_columns = "spillway::adafactor_average_columns",
        directions = "spillway::adafactor_directions", size = "spillway::adafactor_size",
        masters = "spillway::adafactor";
};
Labels const labels;

template <class Lane, class All>
void update(Lane const& lane, All const& a) {
  lane.rows(labels.sum_row, a.rows, 2 * a.columns, SumRow<All>{a});
  if (a.is_matrix) {
    lane.sums(labels.sum_columns, a.partitions.count, a.columns, a.partitions.rows_each * a.columns,
              SumColumns<All>{a});
    lane.rows(labels.average_rows, 1, a.rows, AverageRows<All>{a});
  }
  lane.range(labels.average_columns, a.columns, AverageColumns<All>{a});
  lane.rows(labels.directions, a.rows, a.columns, SumDirections<All>{a});
  lane.rows(labels.size, 1, a.rows, FindSize<All>{a});
  lane.rows(labels.masters, a.rows, a.columns, MoveMasters<All>{a});
}

struct Adafactor {
  static constexpr auto kind = OpKind::adafactor;

  struct Prepared {
    AdafactorFormula formula;
    std::vector<WholeParameter> parameters;
    std::vector<ElementRange> parts;
  };

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    require_remainder(context, op, o.parameter, o.remainder);
    auto const& a = attributes_of<AdafactorAttributes>(op);
    return {{a.clip_threshold, a.eps2, a.weight_decay},
            whole_parameters(context, op),
            parts_of(context, op, "v")};
  }
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    std::int64_t most = 0;
    for (auto const& p : whole_parameters(context, op)) most = std::max(most, Scratch::bytes(p));
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
    for (auto const& p : prepared.parameters) {
      auto* const rows = o.v + prepared.parts[static_cast<std::size_t>(p.number)].first;
      update(lane, Factored<G, std::remove_const_t<decltype(masters)>>{
                       o.gradient, o.control, masters, rows, p.is_matrix ? rows + p.rows : rows,
                       Scratch::in(o.workspace, p.rows), prepared.formula, p.offset, p.rows,
                       p.columns, p.is_matrix, p.decay, Partitions::of(p.rows)});
    }
  }
};

}  // namespace

Kernel kernel_adafactor() {
  return typed_kernel<Adafactor>();
}

}  // namespace spillway::SPILLWAY_SPACE
