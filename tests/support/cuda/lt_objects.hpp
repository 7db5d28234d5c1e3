// Holds the objects that calls of cublasLt make. They consist of plain numbers, because some
// installations have no header of cublasLt, and start with cublasLt's default values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spillway::test::cuda {

struct LtHandle {
  int device = 0;
};

struct LtMatmul {
  std::int32_t compute_type = 0, scale_type = 0, pointer_mode = 0;
  std::int32_t transpose_a = 0, transpose_b = 0, transpose_c = 0;
  std::uint32_t epilogue = 1;
  void const* bias = nullptr;
  std::int64_t bias_batch_stride = 0;
  std::int32_t bias_type = -1;  // -1 means the type of D
};

struct LtLayout {
  std::uint32_t type = 0;
  std::int32_t order = 0;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0;
  std::int32_t batch_count = 1;
  std::int64_t batch_stride = 0;  // counts elements
};

struct LtPreference {
  std::uint32_t search_mode = 0;
  std::uint64_t most_workspace_bytes = 0;
  std::uint32_t reduction_schemes = 7;
  std::uint32_t alignment_a_bytes = 256, alignment_b_bytes = 256;
  std::uint32_t alignment_c_bytes = 256, alignment_d_bytes = 256;
};

// Handles are numbers that are never used again, so that a call with an old handle is noticed.
class LtObjects {
 public:
  template <class Object>
  std::uintptr_t add(Object object) {
    m_all.emplace(m_next, std::move(object));
    return m_next++;
  }
  // Returns the object, or null if this handle names no object of this type.
  template <class Object>
  Object* find(std::uintptr_t handle) {
    auto const found = m_all.find(handle);
    return found == m_all.end() ? nullptr : std::get_if<Object>(&found->second);
  }
  void remove(std::uintptr_t handle) { m_all.erase(handle); }
  void remove_all() { m_all.clear(); }
  std::vector<std::string> leftovers() const;

 private:
  // Handles of streams are small numbers, so no stream is taken for one of these objects.
  std::uintptr_t m_next = std::uintptr_t{1} << 32;
  std::map<std::uintptr_t, std::variant<LtHandle, LtMatmul, LtLayout, LtPreference>> m_all;
};

// These return the names of objects in complaints and leftovers.
inline char const* lt_name(LtHandle const&) {
  return "cublasLt handle";
}
inline char const* lt_name(LtMatmul const&) {
  return "cublasLt matmul descriptor";
}
inline char const* lt_name(LtLayout const&) {
  return "cublasLt matrix layout";
}
inline char const* lt_name(LtPreference const&) {
  return "cublasLt matmul preference";
}

}  // namespace spillway::test::cuda
