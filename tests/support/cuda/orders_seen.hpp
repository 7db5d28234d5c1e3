// Some items of a Program may run in any order. Over many runs of one Program, an OrdersSeen
// records in which orders they really began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::test::cuda {

class OrdersSeen {
 public:
  // Notes that item `first` of a run's `items` items began before item `second`. `free` says that
  // the two may run in any order.
  void note(std::size_t first, std::size_t second, std::size_t items, bool free);
  std::size_t free_pairs() const { return count(kFree); }
  // Returns the share of the free pairs whose items were seen to begin in both orders.
  double share_of_both() const;

 private:
  static constexpr std::uint8_t kFree = 1, kForward = 2, kBackward = 4;
  std::size_t count(std::uint8_t bits) const;

  std::vector<std::uint8_t> m_pairs;  // is an items x items matrix, of which one half is used
};

// EngineOrders that are destroyed from now on note in `orders` what they have seen. If `orders` is
// null, they note nothing.
void collect_orders(OrdersSeen* orders);
OrdersSeen* collected_orders();

}  // namespace spillway::test::cuda
