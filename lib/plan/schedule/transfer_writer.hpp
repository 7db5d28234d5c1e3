// A TransferWriter appends transfers to a Program: items that copy bytes between two buffers.
#pragma once

#include <string>

#include "plan/schedule/residence.hpp"

namespace spillway {

class TransferWriter : public Residence {
 public:
  TransferWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks, Program spare = {});

  // Begins a segment that runs `micro_batches` micro-batches at a time, or 0 if it is the update.
  void begin_segment(std::string const& name, int micro_batches);
  void end_segment() { program.segments.back().last = next(); }

  // Copies as many bytes as both buffers can hold, with items that belong to `block`. Returns the
  // number of the item after which all bytes have arrived. With `if_committed`, nothing is copied
  // unless the step is committed.
  ItemNumber copy(BufferId from, BufferId to, int block, bool if_committed = false);
  // Copies as many bytes from the end of one buffer to the end of another.
  ItemNumber copy_end(BufferId from, BufferId to, int block);
  // `bring` copies what belongs to elements `range` of the tensor's chunk (`of_chunk`) from the
  // tensor's own buffer to the beginning of another buffer. `take_back` copies them from there to
  // the tensor's buffer if the step is committed.
  ItemNumber bring(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber take_back(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  // Makes the item read no more of buffer `there` than `bring` has copied to it.
  void read_brought(ItemNumber item, TensorId tensor, ElementRange range, BufferId there);

 protected:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  // Adds a read of bytes [first_byte, last_byte) to the item. The gaps between parameters in a
  // chunk's gradient are left out, since nothing writes them.
  void read(Item& item, BufferId buffer, std::int64_t first_byte, std::int64_t last_byte);
  // A chunk's gradient has gaps between parameters, unless it goes to the drive: there, bytes are
  // checked in pieces, so nobody may change any while they are copied. An op that uses a
  // parameter's gradient then counts as using it `with_gap`, up to the next parameter.
  bool has_gaps(Tensor const& tensor) const;
  ElementRange with_gap(Tensor const& tensor, ElementRange range) const;
  void read_all(Item& item, BufferId id) { read(item, id, 0, tensor_of(id).bytes()); }
  void write_all(Item& item, BufferId id) {
    item.writes.push_back({id, 0, tensor_of(id).bytes(), {}});
  }

 private:
  bool is_gradient_of_chunk(Tensor const& tensor) const;
  ElementRange without_last_gap(Tensor const& tensor, ElementRange range) const;
  ByteRange bytes_of_chunk(TensorId tensor, ElementRange const& range) const;

  struct Copy {
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
  ItemNumber transfer(Copy const& what);
  ItemNumber add_copy(Copy const& what);
  // Returns the byte of the ring at which the next `bytes` bytes go.
  std::int64_t place(Ring& ring, char const* name, std::int64_t bytes);

  std::int64_t m_piece_bytes;
  Ring m_to_drive, m_from_drive;
};

}  // namespace spillway
