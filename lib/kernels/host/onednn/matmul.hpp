// Computes a matrix product with oneDNN. An object is made for one shape and can run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/matrix.hpp"

namespace spillway::host {

class OneDnnMatmul {
 public:
  // Throws Error, naming the operands, if oneDNN cannot compute the product. `threads` is
  // Arithmetic.threads.
  OneDnnMatmul(MatmulShape const& shape, std::int64_t threads);
  OneDnnMatmul(OneDnnMatmul&&) noexcept;
  OneDnnMatmul& operator=(OneDnnMatmul&&) noexcept;
  ~OneDnnMatmul();

  std::int64_t workspace_bytes() const;  // a multiple of 64; 0 if it needs none
  std::string implementation() const;    // oneDNN's name for what it runs

  // Returns when c is complete. An object can run only one product at a time. It allocates nothing
  // itself, but oneDNN makes a map of its arguments (six to nine small blocks, about 300 bytes)
  // during the call. Throws Error(cannot_fit) if oneDNN fails, which leaves c undefined.
  void operator()(MatmulOperands const& operands) const;

 private:
  struct Bound;
  std::unique_ptr<Bound> m_bound;
};

}  // namespace spillway::host
