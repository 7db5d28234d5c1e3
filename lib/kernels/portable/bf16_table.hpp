// A function of one bf16 has 65536 values: CPUs look up what takes them longer to compute. Those
// that a run needs, of a few exponents, stay in the first cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bf16.hpp"

namespace spillway {

// f(x) at every x; a table is indexed by the bits of x. Its copies share it.
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
