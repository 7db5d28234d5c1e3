// A UniqueHandle owns one resource of a C library (file descriptor, HDF5 id, communicator, ring).
#pragma once

#include <utility>

namespace spillway {

// Close(T) must not throw. It logs a failed close itself, because destructors call it.
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
  // After this call the caller owns the resource.
  T release() { return std::exchange(m_handle, Empty); }
  void reset() {
    if (m_handle != Empty) Close(std::exchange(m_handle, Empty));
  }

 private:
  T m_handle = Empty;
};

}  // namespace spillway
