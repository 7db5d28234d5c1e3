// A TensorList says which tensors a source has, or which a sink is given.
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
  std::vector<std::int64_t> shape;  // extents, outermost first; a scalar has no axes

  bool operator==(TensorEntry const&) const = default;
};

// These return the numbers of a tensor's elements and of its bytes, which the caller must know to
// fit into 63 bits.
std::int64_t element_count(TensorEntry const& entry);
std::int64_t size_bytes(TensorEntry const& entry);

// Entries are numbered in the order in which they were given.
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
  // std::logic_error unless `bytes` are whole elements that the tensor has from there on.
  std::int64_t offset_bytes(std::size_t number, std::int64_t first, std::size_t bytes) const;

 private:
  std::vector<TensorEntry> m_entries;
  std::map<std::string, std::size_t, std::less<>> m_numbers;  // maps names to numbers
};

std::int64_t size_bytes(TensorList const& tensors);

}  // namespace spillway
