// Computes a product whose left factor is one row, as when text is generated token by token. The
// right factor is read once and in place. Tile kernels would first pack it, which would make the
// product take five times as long.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/exec.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// A RowProduct runs only on host execution spaces. The bits of c depend on the MatmulShape alone.
class RowProduct {
 public:
  static bool offers(MatmulShape const& shape);
  explicit RowProduct(MatmulShape const& shape);  // throws std::logic_error unless offers(shape)

  static constexpr std::int64_t workspace_bytes() { return 0; }
  static std::string implementation() { return "row"; }

  // Returns when c is complete. Allocates nothing.
  void operator()(Exec const& exec, MatmulOperands const& operands) const;

 private:
  MatrixLayout m_b;
  DType m_c;
};

}  // namespace spillway::host
