#include "io/h5/hdf5_calls.hpp"

#include <algorithm>

namespace spillway {
namespace {

herr_t take_first(unsigned depth, H5E_error2_t const* error, void* out) {
  if (depth == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
  return 0;
}

// Returns a reason that HDF5 gives, in one line. For a failed system call HDF5 gives several lines
// with the system's own text in quotes; then only the text in quotes is returned.
std::string essence(std::string reason) {
  std::string const mark = "error message = '";
  if (auto const at = reason.find(mark); at != std::string::npos) {
    reason = reason.substr(at + mark.size());
    reason = reason.substr(0, reason.find('\''));
  }
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return reason.empty() ? "HDF5 gives no reason" : reason;
}

// Returns the type of bf16, which HDF5 up to 1.14 cannot name but can describe by its fields. Like
// the predefined types, it is never closed.
hid_t bf16_type() {
  static hid_t const type = [] {
    hid_t const made = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(made, 15, 7, 8, 0, 7);  // sign, exponent and its width, mantissa and its width
    H5Tset_precision(made, 16);
    H5Tset_size(made, 2);
    return made;
  }();
  return type;
}

}  // namespace

void prepare_hdf5() {
  // HDF5's clean-up at exit crashes over a file that could not be written because storage was full.
  // No clean-up is needed, since this program closes every object that it opens.
  [[maybe_unused]] static herr_t const once = H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  return essence(reason);
}

hid_t memory_type(H5Type type) {
  switch (type) {
    case H5Type::f32:
    case H5Type::bf16:  // HDF5 converts it
      return H5T_NATIVE_FLOAT;
    case H5Type::i16:
      return H5T_NATIVE_INT16;
    case H5Type::u8:
      return H5T_NATIVE_UINT8;
    case H5Type::u16:
      return H5T_NATIVE_UINT16;
    case H5Type::u32:
      return H5T_NATIVE_UINT32;
    case H5Type::i64:
      return H5T_NATIVE_INT64;
  }
  return H5I_INVALID_HID;
}

hid_t file_type(H5Type type) {
  switch (type) {
    case H5Type::f32:
      return H5T_IEEE_F32LE;
    case H5Type::bf16:
      return bf16_type();
    case H5Type::i16:
      return H5T_STD_I16LE;
    case H5Type::u8:
      return H5T_STD_U8LE;
    case H5Type::u16:
      return H5T_STD_U16LE;
    case H5Type::u32:
      return H5T_STD_U32LE;
    case H5Type::i64:
      return H5T_STD_I64LE;
  }
  return H5I_INVALID_HID;
}

// H5Idec_ref closes whatever kind of object the identifier stands for.
void close_h5(H5Id id) noexcept {
  H5Idec_ref(id);
}

}  // namespace spillway
