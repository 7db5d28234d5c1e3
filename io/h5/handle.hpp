// HDF5 identifiers that close themselves. hdf5.h stays out of headers.
#pragma once

#include <cstdint>

#include "base/unique_handle.hpp"

namespace spillway {

using H5Id = std::int64_t;  // hid_t, since HDF5 1.10

// Closes an identifier of any kind. A failure is silent, since it follows one that has been said:
// what must be on storage is flushed by name before (H5File::close).
void close_h5(H5Id id) noexcept;
using H5Handle = UniqueHandle<H5Id, close_h5, H5Id{-1}>;

}  // namespace spillway
