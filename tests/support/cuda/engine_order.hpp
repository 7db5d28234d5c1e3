// Watches an Engine on the stand-in: whether what the Program's waits and lanes order was really
// ordered, whenever it happened.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/order_watch.hpp"
#include "runtime/tiers.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/orders_seen.hpp"
#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

// The Program and the Tiers outlive it.
class EngineOrder final : public OrderWatch {
 public:
  EngineOrder(Program const& program, Tiers const& tiers);
  ~EngineOrder() override;  // complains about what was not ordered

  void publishes(void const* count, std::uint64_t until) override;
  void has_seen(void const* count, std::uint64_t position) override {
    Order::acquire(count, position);
  }
  void acts_for(void const* whom) override { Order::act_for(whom); }
  void prepares(std::uint64_t run) override;
  void relies_on(Lane lane, std::uint64_t runs) override;
  void begins(Execution const& execution) override;
  void has_begun(Execution const& execution) override;
  void ends(Execution const& execution) override;

 private:
  // Names each execution that began without having to be after its run was prepared, or after the
  // end of one that it waits for, or of the one before it on its lane; transfers of the drive only
  // begin in order. At most a few are named.
  std::vector<std::string> unordered() const;
  // Names each that need not have ended when somebody relied on it.
  std::vector<std::string> not_ended() const;
  struct Seen {
    Mark begin, end;
    std::uint64_t begun = 0;                   // see moment()
    std::shared_ptr<PieceMarks const> pieces;  // of an item that the device does
  };
  struct Reliance {
    Mark when;
    Lane lane;
    std::uint64_t run;  // the last one that it is about
  };
  using Ranges = std::array<std::vector<Range>, 2>;  // of an op's operands, by parity

  bool is_of_device(ItemNumber item) const;
  std::vector<Range> ranges(Item const& item, int parity) const;
  void report_accesses(Execution const& execution) const;
  void note_orders(OrdersSeen& orders) const;
  Seen* find(Execution const& execution);

  Program const& m_program;
  Tiers const& m_tiers;
  std::vector<int> m_sequence;
  std::vector<ItemNumber> m_items;   // of a run, in total order
  std::vector<std::string> m_texts;  // by item
  std::vector<Ranges> m_ranges;
  std::mutex m_mutex;
  std::vector<std::vector<Seen>> m_runs;
  std::vector<Mark> m_prepared;  // by run
  std::vector<Reliance> m_reliances;
  std::set<void const*> m_counts;  // where the Engine's threads meet
};

std::unique_ptr<OrderWatch> make_engine_order(Program const& program, Tiers const& tiers);

}  // namespace spillway::test::cuda
