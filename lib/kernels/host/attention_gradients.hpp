// Computes the gradients of the op `attention_backward` by tiles of queries and keys, in a worker's
// scratch. The formulas stand in attention_backward.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bf16.hpp"
#include "kernels/host/attention_division.hpp"
#include "kernels/host/attention_tiles.hpp"

namespace spillway::host {

// Says which gradients a unit of work computes, and for which queries and keys.
struct GradientTask {
  std::int64_t sequence;
  RowRange heads;  // query heads, which all read one key head
  RowRange queries, keys;
  bool want_dq, want_dkv;
};

// Describes a tile of queries of one head. Its packed panels lie in the scratch at `base`.
struct QueryTile {
  std::byte* base;
  std::int64_t sequence, head;
  RowRange rows;
  float* bias;  // sums for the bias's gradient; null if the task adds none
};

// T must be float or bf16.
template <class T>
struct TileGradients {
  GradientOperands<T> in;
  TileKernels const* kernels;
  GradientScratch scratch;
  AttentionShape shape;
  BiasSums bias;

  // Packs a tile of queries, which other functions then use, and sets its sums for dq to 0.
  void load(QueryTile const& at) const;
  // Adds what a tile of keys contributes to those of dq, dk and dv that `task` wants. The tile
  // begins at row `row` of the sums of dk and dv.
  void add_keys(QueryTile const& at, RowRange keys, std::int64_t row,
                GradientTask const& task) const;
  // Writes the sums of dq.
  void store_queries(QueryTile const& at) const;
  // Writes the sums of dk and dv.
  void store_keys(std::byte* base, GradientTask const& task) const;

 private:
  void add_key_panel(QueryTile const& at, RowRange keys, std::int64_t j, TileProduct& scores,
                     TileProduct& slopes, std::int64_t row) const;
  void add_to_keys(QueryTile const& at, TileProduct const& made, std::int64_t b, std::int64_t sums,
                   std::int64_t skipped) const;
  void add_to_dq(QueryTile const& at, std::int64_t i, RowRange keys) const;
};
extern template struct TileGradients<float>;
extern template struct TileGradients<bf16>;

}  // namespace spillway::host
