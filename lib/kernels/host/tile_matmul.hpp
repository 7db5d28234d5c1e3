// Computes a matrix product with tile kernels, in blocks that fit the caches and are distributed to
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/exec.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// c is cut into blocks (tile_cut.hpp), and one thread at a time computes a block, over one range of
// the depth (the summed dimension) after the other. Sums are kept in fp32 scratch until they are
// complete, and are then stored once.
//
// The bits of c depend on the shape, the types and the kernels alone, neither on `threads` nor on
// strides. A TileMatmul runs only on host execution spaces.
class TileMatmul {
 public:
  TileMatmul(MatmulShape const& shape, TileKernels const& kernels, std::int64_t threads);
  TileMatmul(TileMatmul&&) noexcept;
  TileMatmul& operator=(TileMatmul&&) noexcept;
  ~TileMatmul();

  std::int64_t workspace_bytes() const;  // a multiple of 64
  std::string implementation() const;

  // Returns when c is complete. An object can run only one product at a time. It allocates nothing.
  // Throws Error(device) if OpenMP gives too few threads.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  struct Bound;
  std::unique_ptr<Bound> m_bound;
};

}  // namespace spillway::host
