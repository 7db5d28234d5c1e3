#include "hostile_h5.hpp"

#include <hdf5.h>

#include <stdexcept>

namespace spillway::test {
namespace {

void require(bool worked) {
  if (!worked) throw std::runtime_error("the HDF5 file for this test cannot be made");
}

// Opens the file, runs body(file) and closes it.
template <class Body>
void in_file(std::filesystem::path const& path, Body const& body) {
  hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  require(file >= 0);
  body(file);
  require(H5Fclose(file) >= 0);
  H5Pclose(access);
}

hid_t space_of(Oddity oddity) {
  hsize_t const rows = hsize_t{1} << 40;
  if (oddity == Oddity::scalar) return H5Screate(H5S_SCALAR);
  if (oddity == Oddity::null) return H5Screate(H5S_NULL);
  return H5Screate_simple(1, &rows, nullptr);
}

}  // namespace

void add_links(std::filesystem::path const& file) {
  in_file(file, [](hid_t id) {
    require(H5Lcreate_soft("/group", id, "/soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    require(H5Lcreate_external("target.h5", "/group", id, "/external", H5P_DEFAULT, H5P_DEFAULT) >=
            0);
  });
}

void replace_by_link(std::filesystem::path const& file, std::string const& name,
                     std::string const& other) {
  in_file(file, [&](hid_t id) {
    require(H5Ldelete(id, name.c_str(), H5P_DEFAULT) >= 0);
    require(H5Lcreate_external(other.c_str(), name.c_str(), id, name.c_str(), H5P_DEFAULT,
                               H5P_DEFAULT) >= 0);
  });
}

void replace_by_oddity(std::filesystem::path const& file, std::string const& name, Oddity oddity) {
  in_file(file, [&](hid_t id) {
    require(H5Ldelete(id, name.c_str(), H5P_DEFAULT) >= 0);
    hid_t const space = space_of(oddity);
    hid_t const dataset =
        H5Dcreate2(id, name.c_str(), H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    require(dataset >= 0 && H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0);
  });
}

}  // namespace spillway::test
