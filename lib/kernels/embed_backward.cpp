// embed_backward: dwte[v] = [dwte[v] +] the sum of dx over the positions that hold token v;
// dwpe[s] = the sum of dx over the sequences. Sums go in the order of positions.
//
// The positions of every token are found first, as linked lists in the workspace: each work item
// owns a range of the vocabulary and reads all tokens, so no two write to one list.
#include "kernels/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway {
namespace {

Label const label_lists = "spillway::embed_backward_lists";
Label const label_words = "spillway::embed_backward_words";
Label const label_places = "spillway::embed_backward_places";
constexpr std::int64_t kWordsPerItem = 256;

struct Extents {
  std::int64_t rows, columns, sequence, words, places;
  bool accumulate;
};

struct ListPositions {
  std::int32_t const* tokens;
  std::int32_t* first;  // [words]: the first position of a token, or -1
  std::int32_t* next;   // [rows]: the next position of the same token, or -1
  std::int64_t rows, words;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    auto const begin = item * kWordsPerItem, limit = begin + kWordsPerItem;
    auto const end = limit < words ? limit : words;
    for (auto word = begin; word < end; ++word) first[word] = -1;
    for (auto row = rows; row-- > 0;) {
      auto const word = tokens[row];
      if (word < begin || word >= end) continue;
      next[row] = first[word];
      first[word] = static_cast<std::int32_t>(row);
    }
  }
};

template <class T, class G>
struct SumWord {
  T const* dx;
  std::int32_t const* first;
  std::int32_t const* next;
  G* dwte;
  std::int64_t columns;
  bool accumulate;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t word) const {
    if (accumulate && first[word] < 0) return;
    team.for_column_blocks(columns,
                           [=, this](std::int64_t j, int width) { sum_block(word, j, width); });
  }

 private:
  KOKKOS_FUNCTION void sum_block(std::int64_t word, std::int64_t j, int width) const {
    float sum[RowTeam::kBlock] = {};
    for (auto row = first[word]; row >= 0; row = next[row]) {
      auto const* const values = dx + row * columns + j;
#pragma omp simd
      for (int l = 0; l < width; ++l) sum[l] += to_float(values[l]);
    }
    auto* const out = dwte + word * columns + j;
    if (accumulate)
      for (int l = 0; l < width; ++l) sum[l] += to_float(out[l]);
    for (int l = 0; l < width; ++l) out[l] = store<G>(sum[l]);
  }
};

template <class T, class G>
struct SumPlace {
  T const* dx;
  G* dwpe;
  std::int64_t rows, columns, sequence;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t place) const {
    auto const end = place < sequence ? rows : 0;  // places beyond the sequence were not used
    team.for_column_blocks(columns, [=, this](std::int64_t j, int width) {
      float sum[RowTeam::kBlock] = {};
      for (auto row = place; row < end; row += sequence)
        for (int l = 0; l < width; ++l) sum[l] += to_float(dx[row * columns + j + l]);
      for (int l = 0; l < width; ++l) dwpe[place * columns + j + l] = store<G>(sum[l]);
    });
  }
};

struct EmbedBackward {
  static Extents prepare(KernelContext const&, Op const& op) {
    assert(all_contiguous(op));
    auto const& dx = op.inputs[1];
    return {dx.shape[0],
            dx.shape[1],
            attributes_of<EmbedAttributes>(op).sequence,
            op.outputs[0].shape[0],
            op.outputs[1].shape[0],
            is_in_place(op, 0)};
  }
  static auto typed(Op const& op) { return std::tie(op.inputs[1], op.outputs[0]); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const e = prepare(context, op);
    return (e.words + e.rows) * size_bytes(DType::i32);
  }

  template <class T, class G>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    auto const* const tokens = static_cast<std::int32_t const*>(p[0]);
    auto const* const dx = static_cast<T const*>(p[1]);
    auto *const dwte = static_cast<G*>(p[2]), *const dwpe = static_cast<G*>(p[3]);
    auto* const first = static_cast<std::int32_t*>(p[4]);
    auto* const next = first + e.words;
    for_each_item(exec, label_lists, div_ceil(e.words, kWordsPerItem),
                  ListPositions{tokens, first, next, e.rows, e.words});
    for_each_row(exec, label_words, e.words,
                 SumWord<T, G>{dx, first, next, dwte, e.columns, e.accumulate});
    for_each_row(exec, label_places, e.places,
                 SumPlace<T, G>{dx, dwpe, e.rows, e.columns, e.sequence});
  }

  // Every element of a gradient by a search through all positions.
  template <class T, class G>
  static void run_serially(void* const* p, Extents const& e) {
    auto const* const tokens = static_cast<std::int32_t const*>(p[0]);
    auto const* const dx = static_cast<T const*>(p[1]);
    auto *const dwte = static_cast<G*>(p[2]), *const dwpe = static_cast<G*>(p[3]);
    auto const sum_where = [&](std::int64_t j, auto const& wanted) {
      float sum = 0;
      for (std::int64_t m = 0; m < e.rows; ++m)
        if (wanted(m)) sum += to_float(dx[m * e.columns + j]);
      return sum;
    };
    for (std::int64_t i = 0; i < e.words * e.columns; ++i) {
      float const sum =
          sum_where(i % e.columns, [&](std::int64_t m) { return tokens[m] == i / e.columns; });
      dwte[i] = store<G>(e.accumulate ? to_float(dwte[i]) + sum : sum);
    }
    for (std::int64_t i = 0; i < e.places * e.columns; ++i)
      dwpe[i] = store<G>(sum_where(
          i % e.columns, [&](std::int64_t m) { return m % e.sequence == i / e.columns; }));
  }
};

}  // namespace

Kernel kernel_embed_backward() {
  return typed_kernel<EmbedBackward>();
}

}  // namespace spillway
