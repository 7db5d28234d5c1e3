// Computes a matrix product in the fastest of three ways: as a RowProduct if RowProduct::offers it,
// with tile kernels if the processor has matrix instructions (oneDNN 2.6 reaches a third of their
// rate) or oneDNN lacks products of the type, and with oneDNN otherwise.
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
  // `threads` is Arithmetic.threads. With `portable`, plain loops compute the product even if other
  // code is faster. Throws Error(bad_input), naming the operands, if oneDNN should compute the
  // product but cannot, Error(device) if OpenMP gives too few threads, and std::logic_error if the
  // shape is invalid.
  Matmul(MatmulShape const& shape, std::int64_t threads, bool portable);

  std::int64_t workspace_bytes() const;  // a multiple of 64; 0 if the product needs none
  std::string implementation() const;

  // Returns when c is complete. An object can run only one product at a time. It allocates nothing
  // itself, but oneDNN may. Throws Error(cannot_fit) if oneDNN fails, and Error(device) if OpenMP
  // gives too few threads.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  std::variant<OneDnnMatmul, TileMatmul, RowProduct> m_way;
};

// Returns the leading dimension with which products read and write rows of `columns` elements
// fastest. A caller that sets MatmulShape::a_zero_padded must fill the rest of the rows with zeros.
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
