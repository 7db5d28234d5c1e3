// embed_backward: a row of a table's gradient is the sum of dx over the rows that took it: dwte[v]
// [+]= over those that hold token v, dwpe[s] = over those at position s, dwtt[k] = over those of
// type k. Sums go in the order of rows.
//
// The rows that took each row of a table are found first, as linked lists in the workspace: each
// work item owns a range of the table and reads all rows, so no two write to one list.
#include <algorithm>

#include "kernels/formulas/embed.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label_lists = "spillway::embed_backward_lists";
Label const label_sums = "spillway::embed_backward_sums";
constexpr std::int64_t kEntriesPerItem = 256;

struct Extents {
  std::int64_t rows, columns, sequence;
  std::int64_t words, places, types;  // rows of the tables; 0: there is none
  bool accumulate;                    // to dwte

  std::int64_t longest() const { return std::max({words, places, types}); }
};

struct ListRows {
  TableIndex index;
  std::int32_t* first;  // [entries]: the first row that took an entry, or -1
  std::int32_t* next;   // [rows]: the next row that took the same, or -1
  std::int64_t rows, entries;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    auto const begin = item * kEntriesPerItem, limit = begin + kEntriesPerItem;
    auto const end = limit < entries ? limit : entries;
    for (auto entry = begin; entry < end; ++entry) first[entry] = -1;
    for (auto row = rows; row-- > 0;) {
      auto const entry = index(row);
      if (entry < begin || entry >= end) continue;
      next[row] = first[entry];
      first[entry] = static_cast<std::int32_t>(row);
    }
  }
};

template <class T, class G>
struct SumEntry {
  T const* dx;
  std::int32_t const* first;
  std::int32_t const* next;
  G* gradient;
  std::int64_t columns;
  bool accumulate;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t entry) const {
    if (accumulate && first[entry] < 0) return;
    team.for_column_blocks(columns,
                           [=, this](std::int64_t j, int width) { sum_block(entry, j, width); });
  }

 private:
  KOKKOS_FUNCTION void sum_block(std::int64_t entry, std::int64_t j, int width) const {
    float sum[RowTeam::kBlock] = {};
    for (auto row = first[entry]; row >= 0; row = next[row]) {
      auto const* const values = dx + row * columns + j;
#pragma omp simd
      for (int l = 0; l < width; ++l) sum[l] += to_float(values[l]);
    }
    auto* const out = gradient + entry * columns + j;
    if (accumulate)
      for (int l = 0; l < width; ++l) sum[l] += to_float(out[l]);
    for (int l = 0; l < width; ++l) out[l] = store<G>(sum[l]);
  }
};

template <class T, class G>
struct Operands {
  TableIndex token, position, type;
  T const* dx;
  G* dwte;
  G* dwpe;  // null: none
  G* dwtt;  // null: none
  std::int32_t* first;
  std::int32_t* next;

  Operands(void* const* p, Extents const& e)
      : token{numbers(p[0]), 1},
        position{numbers(p[2]), e.sequence},
        type{numbers(p[3]), 1},
        dx(static_cast<T const*>(p[1])),
        dwte(static_cast<G*>(p[4])),
        dwpe(static_cast<G*>(p[5])),
        dwtt(static_cast<G*>(p[6])),
        first(static_cast<std::int32_t*>(p[7])),
        next(first + e.longest()) {}

 private:
  static std::int32_t const* numbers(void const* p) { return static_cast<std::int32_t const*>(p); }
};

struct EmbedBackward {
  static Extents prepare(KernelContext const&, Op const& op) {
    assert(all_contiguous(op));
    auto const& dx = op.inputs[1];
    auto const entries = [&](std::size_t output) {
      auto const& table = op.outputs[output];
      return is_present(table) ? table.shape[0] : 0;
    };
    auto const sequence = attributes_of<EmbedAttributes>(op).sequence;
    return {dx.shape[0], dx.shape[1], sequence,          entries(0),
            entries(1),  entries(2),  is_in_place(op, 0)};
  }
  static auto typed(Op const& op) { return std::tie(op.inputs[1], op.outputs[0]); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const e = prepare(context, op);
    return (e.longest() + e.rows) * size_bytes(DType::i32);
  }

  template <class T, class G>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    Operands<T, G> const o(p, e);
    auto const sum = [&](TableIndex const& index, G* gradient, std::int64_t entries, bool add) {
      for_each_item(exec, label_lists, div_ceil(entries, kEntriesPerItem),
                    ListRows{index, o.first, o.next, e.rows, entries});
      for_each_row(exec, label_sums, entries,
                   SumEntry<T, G>{o.dx, o.first, o.next, gradient, e.columns, add});
    };
    sum(o.token, o.dwte, e.words, e.accumulate);
    if (o.dwpe) sum(o.position, o.dwpe, e.places, false);
    if (o.dwtt) sum(o.type, o.dwtt, e.types, false);
  }

  // Every element of a gradient by a search through all rows.
  template <class T, class G>
  static void run_serially(void* const* p, Extents const& e) {
    Operands<T, G> const o(p, e);
    auto const sum = [&](TableIndex const& index, G* gradient, std::int64_t entries, bool add) {
      for (std::int64_t i = 0; i < entries * e.columns; ++i) {
        float total = 0;
        for (std::int64_t m = 0; m < e.rows; ++m)
          if (index(m) == i / e.columns) total += to_float(o.dx[m * e.columns + i % e.columns]);
        gradient[i] = store<G>(add ? to_float(gradient[i]) + total : total);
      }
    };
    sum(o.token, o.dwte, e.words, e.accumulate);
    if (o.dwpe) sum(o.position, o.dwpe, e.places, false);
    if (o.dwtt) sum(o.type, o.dwtt, e.types, false);
  }
};

}  // namespace

Kernel kernel_embed_backward() {
  return typed_kernel<EmbedBackward>();
}

}  // namespace spillway::SPILLWAY_SPACE
