// It appends items to a Program, and of these the transfers: bytes that go from one buffer to
// another.
#pragma once

#include <array>
#include <string>

#include "plan/schedule/residence.hpp"

namespace spillway {

class TransferWriter : public Residence {
 public:
  // The arguments are those of a Residence.
  TransferWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks);

  // A segment runs so many micro-batches, the update none.
  void begin_segment(std::string const& name, int micro_batches);
  void end_segment() { program.segments.back().last = next(); }
  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }

  // Each returns the item with which the bytes are there. A copy is made for a block, and moves as
  // many bytes as the smaller of both buffers has.
  ItemNumber copy(BufferId from, BufferId to, int block);
  // Elements of `range` move between the tensor's own buffer and the beginning of one that holds
  // them alone. They are taken back only where the step is committed.
  ItemNumber bring(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber take_back(TensorId tensor, ElementRange range, BufferId from, BufferId to);

 protected:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  // A chunk's gradient is read without the gaps between parameters, in which nothing is written.
  void read(Item& item, BufferId buffer, std::int64_t first_byte, std::int64_t last_byte);
  void read_all(Item& item, BufferId id) { read(item, id, 0, tensor_of(id).bytes()); }
  void write_all(Item& item, BufferId id) {
    item.writes.push_back({id, 0, tensor_of(id).bytes(), {}});
  }

 private:
  struct Transfer {
    BufferId from, to;
    std::int64_t from_byte, to_byte, bytes;
    int block = -1, chunk = -1;
    bool if_committed = false;
  };
  // Bytes go to the drive, or come from it, through these slots in host memory.
  struct Staging {
    std::array<BufferId, kStagingSlots> slots = {};
    std::size_t used = 0;  // how often a slot was taken
  };
  ItemNumber transfer(Transfer const& what);
  ItemNumber add_copy(Transfer const& what);
  BufferId next_slot(bool to_drive);

  std::int64_t m_slot_bytes;
  Staging m_to_drive, m_from_drive;
};

}  // namespace spillway
