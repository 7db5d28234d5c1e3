#include "io/h5/h5_file.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/h5/hdf5_calls.hpp"

namespace spillway {
namespace {

// Datasets of at least this size begin at pages, so that direct I/O at their file offsets is
// possible.
constexpr hsize_t alignment_bytes = 4096;

// HDF5 keeps descriptions of objects while a file is open, up to so many bytes as they take in the
// file; in memory they take many times as many. It would begin with 2 MiB and go on to 32.
constexpr std::size_t most_kept_bytes = 16 << 10;

void keep_little(H5Handle const& access) {
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access.get(), &cache);
  cache.set_initial_size = true;
  cache.initial_size = cache.min_size = cache.max_size = most_kept_bytes;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access.get(), &cache);
}

// Files are not locked. They are written under another name and never change afterwards, so locks
// would protect nothing, and locking fails on some parallel file systems.
H5Handle access_properties(bool writing) {
  H5Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access.get(), false, true);
  keep_little(access);
  if (writing) {
    // Files of HDF5 1.10 have checksums of HDF5's own structures.
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_alignment(access.get(), alignment_bytes, alignment_bytes);
  }
  return access;
}

extern "C" herr_t add_link_name(hid_t, char const* name, H5L_info_t const*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

extern "C" herr_t add_attribute_name(hid_t, char const* name, H5A_info_t const*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

H5Handle text_type(std::size_t bytes) {
  H5Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

}  // namespace

H5File::H5File(std::filesystem::path path, H5Handle file, Status status, bool writing)
    : m_path(std::move(path)), m_file(std::move(file)), m_status(status), m_writing(writing) {}

H5File H5File::create(std::filesystem::path const& path, Status refused,
                      std::int64_t user_block_bytes) {
  prepare_hdf5();
  ::unlink(path.c_str());
  auto const access = access_properties(true);
  H5Handle const creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_userblock(creation.get(), static_cast<hsize_t>(user_block_bytes));
  H5Handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation.get(), access.get()));
  if (!file) {
    throw Error(refused, fmt::format("{}: cannot be created: {}", path.string(), hdf5_reason()));
  }
  return H5File(path, std::move(file), Status::storage, true);
}

void warm_up_hdf5() {
  prepare_hdf5();
  auto const access = access_properties(true);
  H5Pset_fapl_core(access.get(), 1 << 16, false);  // the file is only in memory
  H5Handle file(H5Fcreate("spillway-warm-up", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!file) return;
  H5File scratch("spillway-warm-up", std::move(file), Status::storage, false);
  scratch.create_dataset("/group/dataset", H5Type::f32, std::array{std::int64_t{16}});
  scratch.set_text("/group/dataset", "text", "text");
}

H5File H5File::open(std::filesystem::path const& path, Status not_as_expected, char const* advice) {
  prepare_hdf5();
  open_for_reading(path);  // reports a missing or forbidden file better than HDF5 does
  if (H5Fis_hdf5(path.c_str()) <= 0) {
    throw Error(not_as_expected, fmt::format("{}: not an HDF5 file{}", path.string(), advice));
  }
  auto const access = access_properties(false);
  H5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file) {
    throw Error(Status::damaged,
                fmt::format("{}: damaged HDF5 file: {}", path.string(), hdf5_reason()));
  }
  return H5File(path, std::move(file), not_as_expected, false);
}

// Errors of writing are asked for here, since a file system may report them only to the descriptor
// that wrote, and only when it is closed.
void H5File::close(Durable durable) {
  if (m_writing) {
    void* descriptor = nullptr;
    if (H5Fflush(m_file.get(), H5F_SCOPE_GLOBAL) < 0 ||
        H5Fget_vfd_handle(m_file.get(), H5P_DEFAULT, &descriptor) < 0)
      fail(Status::storage, "/", "cannot be written");
    if (durable == Durable::yes && ::fsync(*static_cast<int*>(descriptor)) != 0) {
      throw Error(Status::storage, fmt::format("{}: cannot be synchronised: {}", m_path.string(),
                                               error_text(errno)));
    }
  }
  // If H5Fclose fails, the identifier is not closed again, since HDF5 may have released half of
  // what the identifier names.
  if (H5Fclose(m_file.release()) < 0)
    fail(m_writing ? Status::storage : m_status, "/", "cannot be closed");
}

void H5File::create_group(std::string const& name) {
  H5Handle const links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.get(), 1);
  H5Handle const group(
      checked(H5Gcreate2(m_file.get(), name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), name,
              "cannot be created"));
}

bool H5File::is_hard_link(std::string const& name) const {
  H5L_info_t link{};
  return H5Lexists(m_file.get(), name.c_str(), H5P_DEFAULT) > 0 &&
         H5Lget_info(m_file.get(), name.c_str(), &link, H5P_DEFAULT) >= 0 &&
         link.type == H5L_TYPE_HARD;
}

bool H5File::exists(std::string const& name) const {
  // H5Lexists fails unless every group on the way to the object exists.
  for (auto end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
    if (!is_hard_link(name.substr(0, end))) return false;
  }
  return name == "/" || is_hard_link(name);
}

std::vector<std::string> H5File::children(std::string const& group) const {
  H5Handle const id(checked(H5Gopen2(m_file.get(), group.c_str(), H5P_DEFAULT), group, "no group"));
  std::vector<std::string> names;
  if (H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_link_name, &names) < 0) {
    fail(Status::damaged, group, "cannot be listed");
  }
  std::sort(names.begin(), names.end());
  return names;
}

void H5File::set_scalar(std::string const& object, std::string const& key, H5Id type,
                        void const* value) {
  H5Handle const space(H5Screate(H5S_SCALAR));
  H5Handle const attribute(
      checked(H5Acreate_by_name(m_file.get(), object.c_str(), key.c_str(), type, space.get(),
                                H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              object, "an attribute cannot be created"));
  checked(H5Awrite(attribute.get(), type, value), object, "an attribute cannot be written");
}

void H5File::set_text(std::string const& object, std::string const& key, std::string const& value) {
  set_scalar(object, key, text_type(value.size()).get(), value.c_str());
}

void H5File::set_integer(std::string const& object, std::string const& key, std::int64_t value) {
  set_scalar(object, key, H5T_NATIVE_INT64, &value);
}

bool H5File::has_attribute(std::string const& object, std::string const& key) const {
  return H5Aexists_by_name(m_file.get(), object.c_str(), key.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> H5File::attributes(std::string const& object) const {
  H5Handle const id(
      checked(H5Oopen(m_file.get(), object.c_str(), H5P_DEFAULT), object, "no such object"));
  std::vector<std::string> names;
  if (H5Aiterate2(id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_attribute_name, &names) <
      0) {
    fail(Status::damaged, object, "attributes cannot be listed");
  }
  std::sort(names.begin(), names.end());
  return names;
}

H5Handle H5File::open_attribute(std::string const& object, std::string const& key) const {
  H5Handle attribute(
      H5Aopen_by_name(m_file.get(), object.c_str(), key.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute) fail(m_status, object, "no attribute " + key);
  H5Handle const space(H5Aget_space(attribute.get()));
  if (H5Sget_simple_extent_npoints(space.get()) != 1) {
    fail(m_status, object, "attribute " + key + " is not a single value");
  }
  return attribute;
}

void H5File::get_scalar(std::string const& object, std::string const& key, H5Id type,
                        void* value) const {
  auto const attribute = open_attribute(object, key);
  H5Handle const stored(H5Aget_type(attribute.get()));
  if (H5Tget_class(stored.get()) != H5Tget_class(type)) {
    fail(m_status, object, "attribute " + key + " has another type");
  }
  checked(H5Aread(attribute.get(), type, value), object, "an attribute cannot be read");
}

std::string H5File::text(std::string const& object, std::string const& key) const {
  auto const attribute = open_attribute(object, key);
  H5Handle const stored(H5Aget_type(attribute.get()));
  if (H5Tget_class(stored.get()) != H5T_STRING) {
    fail(m_status, object, "attribute " + key + " is not text");
  }
  if (H5Tis_variable_str(stored.get()) > 0) {
    char* value = nullptr;
    checked(H5Aread(attribute.get(), stored.get(), &value), object, "an attribute cannot be read");
    std::string result = value ? value : "";
    H5free_memory(value);
    return result;
  }
  std::string result(H5Tget_size(stored.get()), '\0');
  checked(H5Aread(attribute.get(), stored.get(), result.data()), object,
          "an attribute cannot be read");
  return result.substr(0, std::min(result.size(), std::strlen(result.c_str())));
}

std::int64_t H5File::integer(std::string const& object, std::string const& key) const {
  std::int64_t value = 0;
  get_scalar(object, key, H5T_NATIVE_INT64, &value);
  return value;
}

H5Id H5File::checked(H5Id id, std::string const& object, char const* what) const {
  if (id < 0) fail(m_writing ? Status::storage : Status::damaged, object, what);
  return id;
}

void H5File::fail(Status status, std::string const& object, std::string const& what) const {
  bool const hdf5_failed = H5Eget_num(H5E_DEFAULT) > 0;
  throw Error(status, fmt::format("{}: {}: {}{}", m_path.string(), object, what,
                                  hdf5_failed ? ": " + hdf5_reason() : std::string()));
}

}  // namespace spillway
