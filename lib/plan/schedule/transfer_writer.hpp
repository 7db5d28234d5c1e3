// A TransferWriter appends transfers to a Program: items that copy bytes between two buffers.
#pragma once

#include <array>
#include <string>

#include "plan/schedule/residence.hpp"

namespace spillway {

class TransferWriter : public Residence {
 public:
  TransferWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks);

  // Begins a segment that runs `micro_batches` micro-batches at a time, or 0 if it is the update.
  void begin_segment(std::string const& name, int micro_batches);
  void end_segment() { program.segments.back().last = next(); }
  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }

  // Copies as many bytes as both buffers can hold, with items that belong to `block`. Returns the
  // number of the item after which all bytes have arrived.
  ItemNumber copy(BufferId from, BufferId to, int block);
  // `bring` copies the elements of `range` from the tensor's own buffer to the beginning of another
  // buffer. `take_back` copies them from there to the tensor's buffer if the step is committed.
  ItemNumber bring(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber take_back(TensorId tensor, ElementRange range, BufferId from, BufferId to);

 protected:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  // Adds a read of bytes [first_byte, last_byte) to the item. The gaps between parameters in a
  // chunk's gradient are left out, since nothing writes them.
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
  // Holds the slots in host memory through which bytes pass to the drive, or from the drive.
  struct Staging {
    std::array<BufferId, kStagingSlots> slots = {};
    std::size_t used = 0;  // counts how often slots were taken
  };
  ItemNumber transfer(Transfer const& what);
  ItemNumber add_copy(Transfer const& what);
  BufferId next_slot(bool to_drive);

  std::int64_t m_slot_bytes;
  Staging m_to_drive, m_from_drive;
};

}  // namespace spillway
