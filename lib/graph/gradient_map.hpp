// While the backward pass is appended, a GradientMap knows which tensor holds the gradient of a
// forward tensor.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace spillway {

// A gradient has the layout of its forward tensor, so a View of one becomes a View of the other
// when only its tensor id is replaced.
class GradientMap {
 public:
  explicit GradientMap(Graph const& graph);

  // Returns whether the tensor holds trainable parameters or depends on some.
  bool wants(TensorId tensor) const { return m_wanted[static_cast<std::size_t>(tensor)]; }

  // Returns the gradient of `forward`, or nothing if no op has contributed to these elements yet.
  std::optional<View> find(View const& forward) const;
  // Returns whether every element has a contribution.
  bool is_complete(Tensor const& tensor) const;
  std::optional<TensorId> tensor_of(TensorId forward) const;

  // Records that the tensor `gradient` holds all contributions to `forward` so far. If another
  // tensor was recorded before, it is replaced; if the same tensor was, it now has one more part.
  // Returns null, or says why a part of the gradient would be lost, and then changes nothing.
  char const* put(View const& forward, TensorId gradient);

  // Records that one more op writes a gradient of these parameters. Returns how many earlier ops
  // did, or a negative number if an earlier op did for a range that overlaps this one but differs
  // from it.
  int note_use(TensorId parameters, ElementRange const& range);
  // Returns whether ops of the pass write a gradient of every one of these parameters.
  bool is_used(TensorId parameters, ElementRange const& range) const;

 private:
  struct Entry {
    TensorId gradient = -1;
    std::vector<View> parts;  // views of the forward tensor that have a contribution
  };
  struct Use {
    ElementRange range;
    int count = 0;
  };
  std::vector<bool> m_wanted;  // for each tensor of the forward graph
  std::map<TensorId, Entry> m_entries;
  std::map<TensorId, std::vector<Use>> m_uses;
};

}  // namespace spillway
