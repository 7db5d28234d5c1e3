// Computes a matrix product with oneDNN. An object is made for one shape and can run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/matrix.hpp"

namespace spillway::host {

class OneDnnMatmul {
 public:
  // `threads` is Arithmetic.threads. Throws Error(bad_input), naming the operands, if oneDNN lacks
  // the product, Error(device) if OpenMP gives fewer threads, and std::logic_error if the shape is
  // invalid.
  OneDnnMatmul(MatmulShape const& shape, std::int64_t threads);
  OneDnnMatmul(OneDnnMatmul&&) noexcept;
  OneDnnMatmul& operator=(OneDnnMatmul&&) noexcept;
  ~OneDnnMatmul();

  std::int64_t workspace_bytes() const;  // a multiple of 64; 0 if the product needs none
  std::string implementation() const;    // oneDNN's name of the implementation that it chose

  // Returns when c is complete. An object can run only one product at a time. It allocates nothing
  // itself, but oneDNN makes a map of arguments (six to nine small allocations, about 300 bytes)
  // during the call. Throws Error(cannot_fit) if oneDNN fails, which leaves c undefined, and
  // Error(device) if OpenMP gives too few threads.
  void operator()(MatmulOperands const& operands) const;

 private:
  struct Bound;
  std::unique_ptr<Bound> m_bound;
};

}  // namespace spillway::host
