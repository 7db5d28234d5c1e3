// Defines a vector that is indexed by ids, which are signed numbers; -1 stands for no id.
#pragma once

#include <cassert>
#include <concepts>
#include <vector>

namespace spillway {

// Ids may be of any integer type. Release builds do not check them, as std::vector does not.
template <class T>
struct IdVector : std::vector<T> {
  using Vector = std::vector<T>;
  using Vector::Vector;

  constexpr typename Vector::reference operator[](std::integral auto id) {
    return Vector::operator[](place(id));
  }
  constexpr typename Vector::const_reference operator[](std::integral auto id) const {
    return Vector::operator[](place(id));
  }

 private:
  constexpr std::size_t place(std::integral auto id) const {
    auto const result = static_cast<std::size_t>(id);
    // The planner indexes in its innermost loops. Ids that come from files are checked before.
    assert(result < this->size());
    return result;
  }
};

}  // namespace spillway
