// Computes a matrix product by whatever is fastest on this machine. A product of one row reads the
// matrix once. Other products use our tile kernels if the processor multiplies matrices itself
// (oneDNN 2.6 reaches a third of such a processor's rate) or if oneDNN has no products of the type,
// and use oneDNN otherwise.
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
  // Throws Error, naming the operands, if no implementation exists. `threads` is
  // Arithmetic.threads. With `portable` plain loops compute it, even if others are faster.
  Matmul(MatmulShape const& shape, std::int64_t threads, bool portable);

  std::int64_t workspace_bytes() const;  // a multiple of 64; 0 if it needs none
  std::string implementation() const;

  // Returns when c is complete. An object can run only one product at a time. It allocates nothing
  // itself, but oneDNN may. Throws Error(cannot_fit) if oneDNN fails.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  std::variant<OneDnnMatmul, TileMatmul, RowProduct> m_way;
};

// Returns the leading dimension with which products read and write rows of `columns` elements
// fastest. Where products read such rows, zeros must fill them up (MatmulShape::a_zero_padded).
std::int64_t padded_columns(DType dtype, std::int64_t columns, bool portable);

// Returns what decides the bits of products on this machine, as text for Arithmetic.isa. If
// Arithmetic.isa is `kPortable` instead, products and attention are plain loops, with the same bits
// on all x86 processors.
std::string matmul_isa();
inline constexpr char kPortable[] = "portable";
inline bool is_portable(Arithmetic const& arithmetic) {
  return arithmetic.isa == kPortable;
}

}  // namespace spillway::host
