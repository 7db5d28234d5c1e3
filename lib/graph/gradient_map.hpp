// Which tensor holds the gradient of a forward tensor so far. State of the backward pass.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace spillway {

// A gradient has the layout of its forward tensor, so a view of one is a view of the other.
class GradientMap {
 public:
  explicit GradientMap(Graph const& graph);

  // Whether a trainable parameter lies before the tensor, or in it.
  bool wants(TensorId tensor) const { return m_wanted[static_cast<std::size_t>(tensor)]; }

  // The gradient of `forward`, or nothing if no op has contributed to these elements yet.
  std::optional<View> find(View const& forward) const;
  bool is_complete(Tensor const& tensor) const;  // every element has a contribution
  std::optional<TensorId> tensor_of(TensorId forward) const;

  // From now on `gradient` holds the contributions to `forward`: beside those to other parts of
  // the tensor if it is their tensor, else instead of them. Returns why that would lose a part of
  // the gradient, and then changes nothing; null: it would not.
  char const* put(View const& forward, TensorId gradient);

  // How many ops of the pass have written a gradient of these parameters before; negative: of
  // some of them.
  int note_use(TensorId parameters, ElementRange const& range);
  // Whether ops of the pass write a gradient of all of them.
  bool is_used(TensorId parameters, ElementRange const& range) const;

 private:
  struct Entry {
    TensorId gradient = -1;
    std::vector<View> parts;  // of the forward tensor
  };
  struct Use {
    ElementRange range;
    int count = 0;
  };
  std::vector<bool> m_wanted;  // per tensor of the forward graph
  std::map<TensorId, Entry> m_entries;
  std::map<TensorId, std::vector<Use>> m_uses;
};

}  // namespace spillway
