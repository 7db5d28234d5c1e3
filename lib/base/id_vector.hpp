// Defines a vector that is indexed by ids, which count from 0; the id -1 stands for no element.
#pragma once

#include <cassert>
#include <concepts>
#include <vector>

namespace spillway {

// An id may have any integer type. Release builds do not check whether it is in range.
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
    // An assertion is enough, because ids that come from files are checked when they are read. The
    // planner indexes in its innermost loops.
    assert(result < this->size());
    return result;
  }
};

}  // namespace spillway
