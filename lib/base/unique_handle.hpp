// A UniqueHandle owns one resource of a C library, such as a file descriptor or an HDF5 id.
#pragma once

#include <utility>

namespace spillway {

// Close(handle) frees the resource. It must not throw, because destructors call it.
template <class T, auto Close, T Empty>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(T handle) : m_handle(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : m_handle(std::exchange(other.m_handle, Empty)) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(m_handle, other.m_handle);
    return *this;
  }
  ~UniqueHandle() { reset(); }

  T get() const { return m_handle; }
  explicit operator bool() const { return m_handle != Empty; }
  // Returns the handle, which the caller must close.
  T release() { return std::exchange(m_handle, Empty); }
  void reset() {
    if (m_handle != Empty) Close(std::exchange(m_handle, Empty));
  }

 private:
  T m_handle = Empty;
};

}  // namespace spillway
