// An H5File is a small typed view of one HDF5 file: groups, attributes, contiguous and virtual
// datasets.
//
// HDF5 lays a file out; the values of contiguous datasets are written and read by plain transfers
// at `offset_bytes`. A damaged file may crash HDF5 or keep it busy for ever, so files without a
// seal are opened in a child process (io/file/in_child.hpp).
//
// Every failure throws an Error of one line that names the file and the object. Its status is
// storage if writing fails, the status given to `open` if a file is not what it should be, and
// damaged if bytes cannot be read back. Only one thread uses a file at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/h5/handle.hpp"

namespace spillway {

enum class H5Type { f32, bf16, i16, u8, u16, u32, i64 };

template <class T>
constexpr H5Type h5_type_of();
template <>
constexpr H5Type h5_type_of<float>() {
  return H5Type::f32;
}
template <>
constexpr H5Type h5_type_of<std::int16_t>() {
  return H5Type::i16;
}
template <>
constexpr H5Type h5_type_of<std::uint8_t>() {
  return H5Type::u8;
}
template <>
constexpr H5Type h5_type_of<std::uint16_t>() {
  return H5Type::u16;
}
template <>
constexpr H5Type h5_type_of<std::uint32_t>() {
  return H5Type::u32;
}
template <>
constexpr H5Type h5_type_of<std::int64_t>() {
  return H5Type::i64;
}

struct H5DatasetInfo {
  H5Type type;
  std::vector<std::int64_t> shape;
};

// An H5Source is a dataset of another file. `file` is relative to the file that maps it, so that
// both can be moved together.
struct H5Source {
  std::string file, dataset;
  std::int64_t elements;
};

// Returns the product of the extents, which the caller knows to fit into 63 bits. For a scalar,
// which has no extents, returns 1.
std::int64_t element_count(std::span<std::int64_t const> shape);

// Makes HDF5 take the few MiB of memory that it takes when it is first used. A run calls this
// before it measures how much memory is used outside its plan. Writes no file.
void warm_up_hdf5();

class H5File {
 public:
  // Creates a file in place of what has its name; if that is a link, the link is removed. If the
  // file cannot be created, the Error has status `refused`. The first `user_block_bytes` (0, or a
  // power of two from 4096 on) are left to the caller.
  static H5File create(std::filesystem::path const& path, Status refused = Status::storage,
                       std::int64_t user_block_bytes = 0);
  // Opens a file for reading only. Throws Error: bad_input if it is missing, damaged if it is cut
  // short, `not_as_expected` if it has another format. In the last case `advice` is added to the
  // message.
  static H5File open(std::filesystem::path const& path, Status not_as_expected = Status::damaged,
                     char const* advice = "");

  std::filesystem::path const& path() const { return m_path; }

  // Writes out what was created, waits until it is on storage unless `durable` is `no`, and closes
  // the file. Throws if any of this fails, which a destructor could not do.
  void close(Durable durable = Durable::yes);

  // Objects are named by absolute paths ("/model/wte.weight"). create_group makes missing parents,
  // too. `exists` counts a soft link, or a link to another file, as absent.
  void create_group(std::string const& name);
  bool exists(std::string const& name) const;
  std::vector<std::string> children(std::string const& group) const;  // returns sorted names

  // These functions set, list and get attributes of an object that exists ("/" is the file itself).
  // Texts have a fixed length, because HDF5 has no checksum for texts of variable length.
  void set_text(std::string const& object, std::string const& key, std::string const& value);
  void set_integer(std::string const& object, std::string const& key, std::int64_t value);
  bool has_attribute(std::string const& object, std::string const& key) const;
  std::vector<std::string> attributes(std::string const& object) const;  // returns sorted names
  std::string text(std::string const& object, std::string const& key) const;
  std::int64_t integer(std::string const& object, std::string const& key) const;

  // Makes a contiguous dataset, and missing parent groups. The dataset is allocated at once, so
  // that its bytes have a place in the file.
  void create_dataset(std::string const& name, H5Type type, std::span<std::int64_t const> shape);
  // Makes a virtual dataset, which shows the elements of the sources, one source after the other. A
  // source that has all elements also has the dataset's shape; other sources have one axis. A
  // missing source reads as NaN, or 0 for integers.
  void create_virtual(std::string const& name, H5Type type, std::span<std::int64_t const> shape,
                      std::span<H5Source const> sources);
  H5DatasetInfo info(std::string const& name) const;
  // Returns where a contiguous dataset's first byte lies in the file, or -1 if it has no such place
  // (chunked, compressed, virtual or external).
  std::int64_t offset_bytes(std::string const& name) const;

  // Reads all elements of a dataset. Throws if they are not of type T or more than `most`.
  template <class T>
  std::vector<T> read(std::string const& name, std::int64_t most) const {
    std::vector<T> values(require_elements(name, h5_type_of<T>(), most));
    read_all(name, h5_type_of<T>(), values.data());
    return values;
  }

 private:
  friend void warm_up_hdf5();
  H5File(std::filesystem::path path, H5Handle file, Status status, bool writing);

  H5Id checked(H5Id id, std::string const& object, char const* what) const;
  [[noreturn]] void fail(Status status, std::string const& object, std::string const& what) const;
  bool is_hard_link(std::string const& name) const;
  H5Handle open_dataset(std::string const& name) const;
  H5Handle open_attribute(std::string const& object, std::string const& key) const;
  void set_scalar(std::string const& object, std::string const& key, H5Id type, void const* value);
  void get_scalar(std::string const& object, std::string const& key, H5Id type, void* value) const;
  std::size_t require_elements(std::string const& name, H5Type type, std::int64_t most) const;
  void read_all(std::string const& name, H5Type type, void* to) const;

  std::filesystem::path m_path;
  H5Handle m_file;
  Status m_status;  // of Errors that say that the file is not as expected
  bool m_writing;
};

}  // namespace spillway
