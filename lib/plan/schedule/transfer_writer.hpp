// A TransferWriter appends transfers to a Program: items that copy bytes between two buffers.
#pragma once

#include <string>

#include "plan/schedule/residence.hpp"

namespace spillway {

class TransferWriter : public Residence {
 public:
  // The arguments are the same as those of a Residence.
  TransferWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks);

  // Begins a segment that runs `micro_batches` micro-batches. The update runs 0.
  void begin_segment(std::string const& name, int micro_batches);
  void end_segment() { program.segments.back().last = next(); }
  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }

  // Copies as many bytes as the smaller of both buffers has, on behalf of a block. Returns the item
  // after which the bytes are there.
  ItemNumber copy(BufferId from, BufferId to, int block);
  // These move the elements of `range` between the tensor's own buffer and the beginning of a
  // buffer that holds only these elements. Elements are taken back only if the step is committed.
  ItemNumber bring(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber take_back(TensorId tensor, ElementRange range, BufferId from, BufferId to);

 protected:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  // Adds a read to the item. A chunk's gradient is read without the gaps between parameters, since
  // nothing is written there.
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
  // A ring in host memory is used from its beginning to its end, and then again. Bytes pass it on
  // their way to the drive, or from it.
  struct Ring {
    BufferId buffer = -1;  // made when bytes first pass
    std::int64_t next_byte = 0;
  };
  ItemNumber transfer(Transfer const& what);
  ItemNumber add_copy(Transfer const& what);
  // Returns the byte of the ring at which the next `bytes` bytes go.
  std::int64_t place(Ring& ring, char const* name, std::int64_t bytes);

  std::int64_t m_piece_bytes;
  Ring m_to_drive, m_from_drive;
};

}  // namespace spillway
