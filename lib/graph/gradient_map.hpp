// Which tensor holds the gradient of a forward tensor so far. State of the backward pass.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/tensor.hpp"

namespace spillway {

// A gradient has the layout of its forward tensor, so a view of one is a view of the other.
class GradientMap {
 public:
  // The gradient of `forward`, or nothing if no op has contributed to these elements yet. Assumes
  // that contributions are either the same view or do not overlap (q, k and v of one product).
  std::optional<View> find(View const& forward) const;
  bool is_complete(Tensor const& tensor) const;  // every element has a contribution
  std::optional<TensorId> tensor_of(TensorId forward) const;

  // From now on `gradient` holds the contributions to `forward`: beside those to other parts of
  // the tensor if it is their tensor, else instead of them.
  void put(View const& forward, TensorId gradient);

  // True the second time: an earlier op of the pass writes the same parameter's gradient.
  bool mark_written(View const& parameter_gradient);

 private:
  struct Entry {
    TensorId gradient = -1;
    std::vector<View> parts;  // of the forward tensor
  };
  std::map<TensorId, Entry> m_entries;
  std::set<std::pair<TensorId, std::int64_t>> m_written;  // tensor, offset
};

}  // namespace spillway
