#include "runtime/locked_allocator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
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

TEST(LockedAllocatorDeathTest, NewEndsTheProcessWithALine) {
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        allocate();
      },
      "debug.locked_allocator: .* operator new");
}

TEST(LockedAllocatorDeathTest, AlignedAndArrayAndNothrowFormsAreWatchedToo) {
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

TEST(LockedAllocatorDeathTest, AnArenaRequestEndsTheProcess) {
  Arena arena("device", 4096, 1 << 20);
  EXPECT_DEATH(
      {
        AllocatorLock const lock(true);
        arena.commit(8192);
      },
      "arena bytes");
}

TEST(LockedAllocator, WatchesOnlyItsThreadAndItsScope) {
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
