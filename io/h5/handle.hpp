// An H5Handle owns an HDF5 identifier and closes it. No header but hdf5_calls.hpp includes hdf5.h.
#pragma once

#include <cstdint>

#include "base/unique_handle.hpp"

namespace spillway {

using H5Id = std::int64_t;  // hid_t is this type since HDF5 1.10

// Closes an identifier of any kind. A failure is ignored, because H5File::close flushes what must
// be on storage, and reports errors.
void close_h5(H5Id id) noexcept;
using H5Handle = UniqueHandle<H5Id, close_h5, H5Id{-1}>;

}  // namespace spillway
