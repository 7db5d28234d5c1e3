#include "runtime/locked_allocator.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/allocator_pass.hpp"

namespace spillway {
namespace {

void* allocate_or_null(std::size_t bytes) {
  refuse_when_locked("memory by operator new");
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate_or_null(std::size_t bytes, std::align_val_t alignment) {
  refuse_when_locked("memory by operator new");
  void* p = nullptr;
  auto const at_least = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return ::posix_memalign(&p, at_least, bytes == 0 ? 1 : bytes) == 0 ? p : nullptr;
}

template <class... Alignment>
void* allocate(std::size_t bytes, Alignment... alignment) {
  if (void* const p = allocate_or_null(bytes, alignment...)) return p;
  throw std::bad_alloc();
}

}  // namespace

AllocatorLock::AllocatorLock(bool on) : m_before(t_allocator_locked) {
  t_allocator_locked = t_allocator_locked || on;
}

AllocatorLock::~AllocatorLock() {
  t_allocator_locked = m_before;
}

}  // namespace spillway

// All forms of new and delete are defined here, because sanitizers define those that a program
// leaves out, and a sanitizer's delete does not match a new of this file.
void* operator new(std::size_t bytes) {
  return spillway::allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return spillway::allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return spillway::allocate(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return spillway::allocate(bytes, alignment);
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return spillway::allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
  return spillway::allocate_or_null(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return spillway::allocate_or_null(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     std::nothrow_t const&) noexcept {
  return spillway::allocate_or_null(bytes, alignment);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::nothrow_t const&) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::nothrow_t const&) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t, std::nothrow_t const&) noexcept {
  std::free(p);
}
