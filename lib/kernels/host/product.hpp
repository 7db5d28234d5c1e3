// A matrix product by whoever is fastest here: of one row by reading the matrix once, else our
// tiles where the processor multiplies matrices itself (oneDNN 2.6 reaches a third of its rate
// there) or oneDNN has none of the type, oneDNN elsewhere.
#pragma once

#include <string>
#include <variant>

#include "graph/arithmetic.hpp"
#include "kernels/host/onednn/matmul.hpp"
#include "kernels/host/row_product.hpp"
#include "kernels/host/tile_matmul.hpp"

namespace spillway::host {

class Matmul {
 public:
  // Throws Error naming the operands when no implementation exists.
  // `threads`: Arithmetic.threads. `portable`: by plain loops, whatever is fastest.
  Matmul(MatmulShape const& shape, std::int64_t threads, bool portable);

  std::int64_t workspace_bytes() const;  // a multiple of 64; 0: none
  std::string implementation() const;

  // Returns when c is complete. One run at a time per object; allocates nothing itself.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  std::variant<OneDnnMatmul, TileMatmul, RowProduct> m_way;
};

// The leading dimension at which products read and write rows of `columns` elements fastest; when
// they read it, with zeros to it (MatmulShape::a_zero_padded).
std::int64_t padded_columns(DType dtype, std::int64_t columns, bool portable);

// What decides the bits of products here: Arithmetic.isa. With `kPortable` instead products and
// attention are plain loops, which give the same bits on all x86 processors.
std::string matmul_isa();
inline constexpr char kPortable[] = "portable";
inline bool is_portable(Arithmetic const& arithmetic) {
  return arithmetic.isa == kPortable;
}

}  // namespace spillway::host
