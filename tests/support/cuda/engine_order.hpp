// An EngineOrder watches an Engine on the stand-in. It checks that items which the Program's waits
// and lanes put in an order could only run in that order, whatever the real timing was.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/order_watch.hpp"
#include "runtime/tiers.hpp"
#include "tests/support/cuda/address_range.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/orders_seen.hpp"

namespace spillway::test::cuda {

// The Program and the Tiers must outlive the EngineOrder.
class EngineOrder final : public OrderWatch {
 public:
  EngineOrder(Program const& program, Tiers const& tiers);
  ~EngineOrder() override;  // complains about items that were not ordered

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
  // Names, up to a limit, executions that could begin too early: before their run was prepared,
  // before an execution that they wait for had ended, or before the previous one on their lane had.
  // Transfers of the drive need not wait for the previous one.
  std::vector<std::string> unordered() const;
  // Names executions that need not have ended when a thread relied on their end.
  std::vector<std::string> not_ended() const;
  struct Seen {
    Mark begin, end;
    std::uint64_t begun = 0;                   // is the moment() of the begin; 0: there was none
    std::shared_ptr<PieceMarks const> pieces;  // is null unless the device runs the item
  };
  struct Reliance {
    Mark when;
    Lane lane;
    std::uint64_t run;  // the lane has ended this run and all before it
  };
  // Has an op's operands in even and in odd runs.
  using Ranges = std::array<std::vector<AddressRange>, 2>;

  bool is_of_device(ItemNumber item) const;
  std::vector<AddressRange> ranges(Item const& item, int parity) const;
  void report_accesses(Execution const& execution) const;
  void note_orders(OrdersSeen& orders) const;
  Seen* find(Execution const& execution);

  Program const& m_program;
  Tiers const& m_tiers;
  std::vector<int> m_sequence;
  std::vector<ItemNumber> m_items;   // has the items of one run, in the total order
  std::vector<std::string> m_texts;  // describes each item
  std::vector<Ranges> m_ranges;
  std::mutex m_mutex;
  std::vector<std::vector<Seen>> m_runs;
  std::vector<Mark> m_prepared;  // says when each run was prepared
  std::vector<Reliance> m_reliances;
  std::set<void const*> m_counts;  // has the counts that the Engine has published
};

std::unique_ptr<OrderWatch> make_engine_order(Program const& program, Tiers const& tiers);

}  // namespace spillway::test::cuda
