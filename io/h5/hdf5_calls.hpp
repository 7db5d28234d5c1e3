// Includes hdf5.h for the sources of this folder. No other folder may include this header.
#pragma once

#include <hdf5.h>

#include <string>
#include <type_traits>

#include "io/h5/h5_file.hpp"

namespace spillway {

static_assert(std::is_same_v<hid_t, H5Id>, "HDF5 1.10 or later is needed");

// Call this before the first HDF5 call of each thread, since HDF5 prints its errors unless told not
// to.
void prepare_hdf5();

// Returns the innermost reason of the latest failure, in one line.
std::string hdf5_reason();

hid_t memory_type(H5Type type);
hid_t file_type(H5Type type);  // little-endian

}  // namespace spillway
