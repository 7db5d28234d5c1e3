// A TensorList lists the tensors that a TensorSource has or that a TensorSink expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/tensors/element_type.hpp"

namespace spillway {

struct TensorEntry {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;  // the lengths of the axes, outermost first; empty for a scalar

  bool operator==(TensorEntry const&) const = default;
};

// element_count returns the number of a tensor's elements, and size_bytes the number of its bytes.
// The caller must know that these numbers fit into 63 bits.
std::int64_t element_count(TensorEntry const& entry);
std::int64_t size_bytes(TensorEntry const& entry);

// A TensorList numbers its entries from 0, in the order in which its constructor was given them.
class TensorList {
 public:
  TensorList() = default;
  // Throws std::logic_error if two entries have the same name.
  explicit TensorList(std::vector<TensorEntry> entries);

  std::size_t size() const { return m_entries.size(); }
  TensorEntry const& operator[](std::size_t number) const { return m_entries[number]; }
  auto begin() const { return m_entries.begin(); }
  auto end() const { return m_entries.end(); }
  // Returns the number of the tensor with this name, or nothing if there is none.
  std::optional<std::size_t> find(std::string_view name) const;

  // Returns where element `first` begins, in bytes from the tensor's beginning. Throws
  // std::logic_error unless the tensor has `bytes`, in whole elements, from there on.
  std::int64_t offset_bytes(std::size_t number, std::int64_t first, std::size_t bytes) const;

 private:
  std::vector<TensorEntry> m_entries;
  std::map<std::string, std::size_t, std::less<>> m_numbers;  // maps names to numbers
};

std::int64_t size_bytes(TensorList const& tensors);
// Returns the same tensors with elements of f32.
TensorList as_floats(TensorList const& tensors);

}  // namespace spillway
