#include "runtime/locked_allocator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "device/host/arena.hpp"

namespace spillway::locked_allocator_test {
namespace {

// Out of the optimiser's sight: it may leave out a pair of new and delete.
void allocate() {
  static std::vector<int>* volatile kept = nullptr;
  kept = new std::vector<int>(100);
  delete kept;
}

// A form of operator new with what takes its memory back.
struct Form {
  char const* name;
  void* (*take)(std::size_t bytes);
  void (*give)(void* p);
  bool throws = true;
};
constexpr std::align_val_t kAlignment{256};
constexpr Form kForms[] = {
    {"new", [](std::size_t n) { return ::operator new(n); }, [](void* p) { ::operator delete(p); }},
    {"new[]", [](std::size_t n) { return ::operator new[](n); },
     [](void* p) { ::operator delete[](p); }},
    {"aligned new", [](std::size_t n) { return ::operator new(n, kAlignment); },
     [](void* p) { ::operator delete(p, kAlignment); }},
    {"aligned new[]", [](std::size_t n) { return ::operator new[](n, kAlignment); },
     [](void* p) { ::operator delete[](p, kAlignment); }},
    {"nothrow new", [](std::size_t n) { return ::operator new(n, std::nothrow); },
     [](void* p) { ::operator delete(p, std::nothrow); }, false},
    {"nothrow new[]", [](std::size_t n) { return ::operator new[](n, std::nothrow); },
     [](void* p) { ::operator delete[](p, std::nothrow); }, false},
    {"aligned nothrow new",
     [](std::size_t n) { return ::operator new(n, kAlignment, std::nothrow); },
     [](void* p) { ::operator delete(p, kAlignment, std::nothrow); }, false},
    {"aligned nothrow new[]",
     [](std::size_t n) { return ::operator new[](n, kAlignment, std::nothrow); },
     [](void* p) { ::operator delete[](p, kAlignment, std::nothrow); }, false},
};

TEST(LockedAllocator, every_form_says_that_there_is_not_enough_memory_as_it_should) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the process that asks for so much";
#endif
  std::size_t const volatile more_than_there_is = std::numeric_limits<std::size_t>::max() / 4;
  for (auto const& form : kForms) {
    if (form.throws) {
      EXPECT_THROW(form.take(more_than_there_is), std::bad_alloc) << form.name;
    } else {
      EXPECT_EQ(form.take(more_than_there_is), nullptr) << form.name;
    }
  }
}

TEST(LockedAllocator, aligned_forms_align_and_take_the_smallest_alignments) {
  for (auto const& form : kForms) {
    if (!std::string_view(form.name).starts_with("aligned")) continue;
    std::vector<void*> all(30);
    for (auto& p : all) {
      p = form.take(24);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 256, 0u) << form.name;
    }
    for (auto* const p : all) form.give(p);
  }
  for (std::size_t const alignment : {1u, 2u, 4u}) {
    auto const at = std::align_val_t(alignment);
    void* const one = ::operator new(10, at);
    void* const more = ::operator new[](10, at);
    EXPECT_NE(one, nullptr);
    EXPECT_NE(more, nullptr);
    ::operator delete(one, at);
    ::operator delete[](more, at);
  }
}

TEST(LockedAllocatorDeathTest, every_form_is_watched) {
  for (auto const& form : kForms) {
    SCOPED_TRACE(form.name);
    EXPECT_DEATH(
        {
          AllocatorLock const lock(true);
          form.give(form.take(10));
        },
        "operator new");
  }
}

TEST(LockedAllocatorDeathTest, an_inner_scope_unlocks_nothing) {
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        AllocatorLock const inner(false);
        allocate();
      },
      "operator new");
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        { AllocatorLock const inner(true); }
        allocate();
      },
      "operator new");
}

TEST(LockedAllocatorDeathTest, new_ends_the_process_with_a_line) {
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        allocate();
      },
      "debug.locked_allocator: .* operator new");
}

TEST(LockedAllocatorDeathTest, aligned_and_array_and_nothrow_forms_are_watched_too) {
  struct alignas(64) Line {
    char bytes[64];
  };
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        static Line* volatile line = new Line;
        delete line;
      },
      "operator new");
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        static char* volatile text = new (std::nothrow) char[10];
        delete[] text;
      },
      "operator new");
}

TEST(LockedAllocatorDeathTest, an_arena_request_ends_the_process) {
  Arena arena("device", 4096, 1 << 20);
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        arena.commit(8192);
      },
      "arena bytes");
}

TEST(LockedAllocator, watches_only_its_thread_and_its_scope) {
  {
    AllocatorLock const off(false);
    allocate();
  }
  {
    int sum = 0;
    std::thread busy([&sum] {
      for (int i = 0; i < 100; ++i) {
        allocate();
        ++sum;
      }
    });
    {
      AllocatorLock const lock(true);
      AllocatorLock const inner(false);
      busy.join();
    }
    EXPECT_EQ(sum, 100);
  }
  allocate();
}

}  // namespace
}  // namespace spillway::locked_allocator_test
