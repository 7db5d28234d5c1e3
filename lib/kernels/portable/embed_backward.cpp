// The op `embed_backward` computes the gradients of embedding tables. The gradient of a table's row
// is the sum, in ascending order, of the rows of dx that used it: dwte[v] [+]= those with token v,
// dwpe[s] = those at position s, dwtt[k] = those of type k.
//
// Linked lists in the workspace first collect the rows of dx that used each row of a table. On a
// host a unit of work owns a range of the table's rows and goes through all rows of dx. On a
// device, which has many more threads, a team owns a row of dx and looks for the one before it in
// its list. Either way no two of them write to the same place.
#include <algorithm>

#include "kernels/formulas/embed.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label_empty = "spillway::embed_backward_empty";
Label const label_lists = "spillway::embed_backward_lists";
Label const label_sums = "spillway::embed_backward_sums";
constexpr std::int64_t kEntriesPerUnit = 256;

struct Prepared {
  std::int64_t rows, columns, sequence;
  std::int64_t wte_rows, wpe_rows, wtt_rows;  // number of rows of dwte, dwpe and dwtt; 0 if absent
  bool accumulate;                            // whether to add to what dwte holds

  std::int64_t longest() const { return std::max({wte_rows, wpe_rows, wtt_rows}); }
};

struct Lists {
  TableIndex index;
  std::int32_t* first;  // [entries]: the first row of dx that used this row of the table, or -1
  std::int32_t* next;   // [rows]: the next row of dx that used the same row of the table, or -1
  std::int64_t rows, entries;
};

struct ListRows : Lists {
  KOKKOS_FUNCTION void operator()(std::int64_t unit) const {
    auto const begin = unit * kEntriesPerUnit, limit = begin + kEntriesPerUnit;
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

struct EmptyLists {
  std::int32_t* first;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { first[i] = -1; }
};

struct LinkRow : Lists {
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t row) const {
    // Rows without numbers use the same row of the table again after a period.
    auto const before = index.numbers ? last_alike(team, row) : row - index.period;
    team.once([=, this] {
      (before < 0 ? first[index(row)] : next[before]) = static_cast<std::int32_t>(row);
    });
  }

 private:
  static constexpr std::int64_t kRowsAtOnce = 2048;

  // Returns the last row before `row` that has its number, or a number below 0.
  template <class Team>
  KOKKOS_FUNCTION std::int64_t last_alike(Team const& team, std::int64_t row) const {
    for (auto end = row; end > 0; end -= kRowsAtOnce) {
      auto const begin = end < kRowsAtOnce ? 0 : end - kRowsAtOnce;
      auto const* const numbers = index.numbers + begin;
      auto const found = team.last_column(
          end - begin,
          [=, number = index.numbers[row]](std::int64_t j) { return numbers[j] == number; });
      if (found >= 0) return begin + found;
    }
    return -1;
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

  // Sums for a row of the table on a host.
  void operator()(RowTeam const& team, std::int64_t entry) const {
    if (accumulate && first[entry] < 0) return;
    team.for_column_blocks(columns,
                           [=, this](std::int64_t j, int width) { sum_block(entry, j, width); });
  }

  // Sums for one element of the table on a device.
  KOKKOS_FUNCTION void sum_column(std::int64_t entry, std::int64_t j) const {
    if (accumulate && first[entry] < 0) return;
    float sum = 0;
    for (auto row = first[entry]; row >= 0;) row = add_rows(row, j, sum);
    auto& out = gradient[entry * columns + j];
    out = store<G>(accumulate ? sum + to_float(out) : sum);
  }

 private:
  // Adds elements j of the row and of those that follow it in its list. All of them are read before
  // the first is added. Returns the next row of the list.
  KOKKOS_FUNCTION std::int32_t add_rows(std::int32_t row, std::int64_t j, float& sum) const {
    constexpr int kRowsAtOnce = 8;
    std::int32_t rows[kRowsAtOnce];
    T values[kRowsAtOnce];
    for (auto& listed : rows) {
      listed = row;
      if (row >= 0) row = next[row];
    }
    for (int k = 0; k < kRowsAtOnce; ++k) values[k] = rows[k] < 0 ? T{} : dx[rows[k] * columns + j];
    for (int k = 0; k < kRowsAtOnce; ++k)
      if (rows[k] >= 0) sum += to_float(values[k]);
    return row;
  }

  void sum_block(std::int64_t entry, std::int64_t j, int width) const {
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

// Calls sum(index, gradient, number of rows of the table, whether to add) for each table. `index`
// says which row of the table each row of dx used.
template <class T, class G, class Sum>
void for_each_table(Pointers<OpKind::embed_backward, T, G> const& o, Prepared const& p,
                    Sum const& sum) {
  sum(TableIndex{o.tokens, 1}, o.dwte, p.wte_rows, p.accumulate);
  if (o.dwpe) sum(TableIndex{o.positions, p.sequence}, o.dwpe, p.wpe_rows, false);
  if (o.dwtt) sum(TableIndex{o.types, 1}, o.dwtt, p.wtt_rows, false);
}

struct EmbedBackward {
  static constexpr auto kind = OpKind::embed_backward;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const o = operands<kind>(op);
    auto const entries = [](View const& table) { return is_present(table) ? table.shape[0] : 0; };
    return {.rows = o.dx.shape[0],
            .columns = o.dx.shape[1],
            .sequence = attributes_of<EmbedAttributes>(op).sequence,
            .wte_rows = entries(o.dwte),
            .wpe_rows = entries(o.dwpe),
            .wtt_rows = entries(o.dwtt),
            .accumulate = is_in_place(op, o.dwte)};
  }
  static auto typed(auto const& o) { return std::tie(o.dx, o.dwte); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const p = prepare(context, op);
    return (p.longest() + p.rows) * size_bytes(DType::i32);
  }

  template <class T, class G>
  static void run(Exec const& exec, Pointers<OpKind::embed_backward, T, G> const& o,
                  Prepared const& p) {
    auto* const first = static_cast<std::int32_t*>(o.workspace);
    auto* const next = first + p.longest();
    for_each_table(o, p, [&](TableIndex const& index, G* gradient, std::int64_t entries, bool add) {
      Lists const lists{index, first, next, p.rows, entries};
      SumEntry<T, G> const sum{o.dx, first, next, gradient, p.columns, add};
      if constexpr (kLikeDevice) {
        for_each_element(exec, label_empty, p.longest() + p.rows, EmptyLists{first});
        for_each_row(exec, label_lists, p.rows, LinkRow{lists});
        for_each_sum(exec, label_sums, entries, p.columns, sum);
      } else {
        for_each_unit(exec, label_lists, div_ceil(entries, kEntriesPerUnit), ListRows{lists});
        for_each_row(exec, label_sums, entries, sum);
      }
    });
  }

  // The serial reference searches all rows of dx for each element of a gradient.
  template <class T, class G>
  static void run_serially(Pointers<OpKind::embed_backward, T, G> const& o, Prepared const& p) {
    for_each_table(o, p, [&](TableIndex const& index, G* gradient, std::int64_t entries, bool add) {
      for (std::int64_t i = 0; i < entries * p.columns; ++i) {
        float total = 0;
        for (std::int64_t m = 0; m < p.rows; ++m)
          if (index(m) == i / p.columns) total += to_float(o.dx[m * p.columns + i % p.columns]);
        gradient[i] = store<G>(add ? to_float(gradient[i]) + total : total);
      }
    });
  }
};

}  // namespace

Kernel kernel_embed_backward() {
  return typed_kernel<EmbedBackward>();
}

}  // namespace spillway::SPILLWAY_SPACE
