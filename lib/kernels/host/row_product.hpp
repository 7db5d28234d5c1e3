// Computes a product whose left factor is one row, as in a step of generating. The right factor is
// read once, where it lies. Tile kernels would copy it first and so take five times as long.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/exec.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// A RowProduct runs only on host execution spaces. The bits of c depend on the shape and the types
// alone.
class RowProduct {
 public:
  static bool offers(MatmulShape const& shape);
  explicit RowProduct(MatmulShape const& shape);  // offers(shape) must be true

  static constexpr std::int64_t workspace_bytes() { return 0; }
  static std::string implementation() { return "row"; }

  // Returns when c is complete. Allocates nothing.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  MatrixLayout m_b;
  DType m_c;
};

}  // namespace spillway::host
