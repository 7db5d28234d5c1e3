// Implements the datasets of an H5File; files, groups and attributes are in h5_file.cpp.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include "io/h5/flat_range.hpp"
#include "io/h5/h5_file.hpp"
#include "io/h5/hdf5_calls.hpp"

namespace spillway {
namespace {

std::vector<hsize_t> extents(std::span<std::int64_t const> shape) {
  return {shape.begin(), shape.end()};
}

H5Handle dataspace(std::span<std::int64_t const> shape) {
  auto const dims = extents(shape);
  return H5Handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

H5Handle links_with_parents() {
  H5Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  return links;
}

// Selects a box of the array that `space` describes.
void select(H5Id space, std::span<std::int64_t const> start, std::span<std::int64_t const> count) {
  auto const first = extents(start), size = extents(count);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr);
}

// Maps elements [first, first + source.elements) of `space` to the source, box by box. Returns
// whether HDF5 could do that.
bool map_source(H5Id properties, H5Id space, std::span<std::int64_t const> shape,
                std::int64_t first, H5Source const& source) {
  std::array const flat{source.elements};
  bool const whole = source.elements == element_count(shape);
  auto const source_space = dataspace(whole ? shape : flat);
  std::int64_t at = 0;  // the position in the source, in elements
  for (auto const& [start, count] : boxes_of_range(shape, first, source.elements)) {
    std::array const size{element_count(count)}, begin{at};
    select(space, start, count);
    if (!whole) select(source_space.get(), begin, size);
    if (H5Pset_virtual(properties, space, source.file.c_str(), source.dataset.c_str(),
                       source_space.get()) < 0)
      return false;
    at += size[0];
  }
  H5Sselect_all(space);
  return true;
}

bool map_sources(H5Id properties, H5Id space, std::span<std::int64_t const> shape,
                 std::span<H5Source const> sources) {
  std::int64_t first = 0;
  for (auto const& source : sources) {
    if (!map_source(properties, space, shape, first, source)) return false;
    first += source.elements;
  }
  return true;
}

}  // namespace

std::int64_t element_count(std::span<std::int64_t const> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void H5File::create_dataset(std::string const& name, H5Type type,
                            std::span<std::int64_t const> shape) {
  auto const space = dataspace(shape);
  auto const links = links_with_parents();
  H5Handle const creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_layout(creation.get(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  H5Handle const dataset(checked(H5Dcreate2(m_file.get(), name.c_str(), file_type(type),
                                            space.get(), links.get(), creation.get(), H5P_DEFAULT),
                                 name, "cannot be created"));
}

void H5File::create_virtual(std::string const& name, H5Type type,
                            std::span<std::int64_t const> shape,
                            std::span<H5Source const> sources) {
  auto const space = dataspace(shape);
  auto const links = links_with_parents();
  H5Handle const creation(H5Pcreate(H5P_DATASET_CREATE));
  if (type == H5Type::f32 || type == H5Type::bf16) {
    float const missing = std::numeric_limits<float>::quiet_NaN();
    H5Pset_fill_value(creation.get(), H5T_NATIVE_FLOAT, &missing);
  }
  if (!map_sources(creation.get(), space.get(), shape, sources)) {
    fail(Status::storage, name, "cannot be mapped");
  }
  H5Handle const dataset(checked(H5Dcreate2(m_file.get(), name.c_str(), file_type(type),
                                            space.get(), links.get(), creation.get(), H5P_DEFAULT),
                                 name, "cannot be created"));
}

H5Handle H5File::open_dataset(std::string const& name) const {
  if (!exists(name)) fail(m_status, name, "no such dataset");
  H5Handle dataset(H5Dopen2(m_file.get(), name.c_str(), H5P_DEFAULT));
  if (!dataset) fail(m_status, name, "not a dataset");
  return dataset;
}

H5DatasetInfo H5File::info(std::string const& name) const {
  auto const dataset = open_dataset(name);
  H5Handle const space(checked(H5Dget_space(dataset.get()), name, "has no shape"));
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  int const rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  checked(rank, name, "has no shape");
  std::vector<std::int64_t> shape(dims.begin(), dims.begin() + rank);

  H5Handle const stored(checked(H5Dget_type(dataset.get()), name, "has no element type"));
  for (auto type : {H5Type::f32, H5Type::bf16, H5Type::i16, H5Type::u8, H5Type::u16, H5Type::u32,
                    H5Type::i64}) {
    if (H5Tequal(stored.get(), file_type(type)) > 0) return {type, std::move(shape)};
  }
  fail(
      m_status, name,
      "has an element type that is none of float32, bfloat16, int16, uint8, uint16, uint32, int64");
}

std::int64_t H5File::offset_bytes(std::string const& name) const {
  auto const dataset = open_dataset(name);
  H5Handle const creation(H5Dget_create_plist(dataset.get()));
  bool const contiguous = H5Pget_layout(creation.get()) == H5D_CONTIGUOUS;
  if (!contiguous || H5Pget_external_count(creation.get()) > 0) return -1;
  haddr_t const offset = H5Dget_offset(dataset.get());
  return offset == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(offset);
}

std::size_t H5File::require_elements(std::string const& name, H5Type type,
                                     std::int64_t most) const {
  auto const [stored, shape] = info(name);
  bool const converts = stored == H5Type::bf16 && type == H5Type::f32;
  if (stored != type && !converts) fail(m_status, name, "has another element type than expected");
  std::int64_t count = 1;
  for (auto const extent : shape) {
    if (extent < 0 || extent > most) fail(m_status, name, "is larger than expected");
    count *= extent;
    if (count > most) fail(m_status, name, "is larger than expected");
  }
  return static_cast<std::size_t>(count);
}

void H5File::read_all(std::string const& name, H5Type type, void* to) const {
  checked(H5Dread(open_dataset(name).get(), memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, to),
          name, "cannot be read");
}

}  // namespace spillway
