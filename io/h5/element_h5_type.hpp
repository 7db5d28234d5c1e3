// h5_type names the HDF5 types that elements of a checkpoint's tensors have in its files.
#pragma once

#include <stdexcept>
#include <string>

#include "io/h5/h5_file.hpp"
#include "io/tensors/element_type.hpp"

namespace spillway {

// Throws std::logic_error if no tensor of a checkpoint has elements of `type`.
inline H5Type h5_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return H5Type::f32;
    case ElementType::bf16:
      return H5Type::bf16;
    case ElementType::i16:
      return H5Type::i16;
    case ElementType::u8:
      return H5Type::u8;
    default:
      throw std::logic_error("checkpoint: no tensor has elements of type " +
                             std::string(name(type)));
  }
}

}  // namespace spillway
