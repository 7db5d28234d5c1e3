// A matrix product made of tile kernels, blocked for the caches and divided among threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/exec.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// c is cut into blocks (tile_cut.hpp), each the work of one thread at a time. Blocks take the depth
// (the dimension that is summed over) piece by piece; their sums stay in fp32 scratch until they
// are stored, once.
//
// The bits of c depend on shape, types and kernels alone: neither on `threads` nor on strides.
// Host execution spaces only.
class TileMatmul {
 public:
  TileMatmul(MatmulShape const& shape, TileKernels const& kernels, std::int64_t threads);
  TileMatmul(TileMatmul&&) noexcept;
  TileMatmul& operator=(TileMatmul&&) noexcept;
  ~TileMatmul();

  std::int64_t workspace_bytes() const;  // a multiple of 64
  std::string implementation() const;

  // Returns when c is complete. One run at a time per object. Allocates nothing.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  struct Bound;
  std::unique_ptr<Bound> m_bound;
};

}  // namespace spillway::host
