// A function of one bf16 has 65536 values, so CPUs look them up if computing them takes longer. The
// arguments that occur in a run have few different exponents, so the values that it needs stay in
// the first-level cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bf16.hpp"

namespace spillway {

// Holds f(x) for every bf16 x, indexed by the bits of x. Copies of a table share its values.
template <class Value>
class Bf16Table {
 public:
  template <class F>
  explicit Bf16Table(F const& f) {
    auto const values = std::make_shared<std::vector<Value>>(1 << 16);
    for (std::size_t bits = 0; bits < values->size(); ++bits)
      (*values)[bits] = f(to_float(bf16{static_cast<std::uint16_t>(bits)}));
    m_values = values;
  }

  Value const* data() const { return m_values->data(); }

 private:
  std::shared_ptr<std::vector<Value> const> m_values;
};

}  // namespace spillway
