// HandMade builds a Program item by item, for tests that need to know every byte.
#pragma once

#include "plan/data/program.hpp"

namespace spillway::test {

class HandMade {
 public:
  explicit HandMade(std::int64_t micro_batches = 1) { program.micro_batches = micro_batches; }

  void segment(std::string const& name) {
    if (!program.segments.empty()) program.segments.back().last = next();
    program.segments.push_back({name, next(), next(), 1});
  }

  BufferId buffer(Tier tier, std::int64_t bytes) {
    auto const id = static_cast<BufferId>(program.buffers.size());
    Tensor tensor;
    tensor.id = id;
    tensor.dtype = DType::f64;
    tensor.shape = {bytes / size_bytes(DType::f64)};
    program.tensors.push_back(tensor);
    Buffer buffer;
    buffer.id = buffer.tensor = id;
    buffer.name.assign(static_cast<std::size_t>(1 + id / 26), static_cast<char>('a' + id % 26));
    buffer.tier = tier;
    buffer.bytes = bytes;
    program.buffers.push_back(buffer);
    return id;
  }

  // Adds an item that reads and writes whole buffers.
  ItemNumber item(Lane lane, std::vector<BufferId> const& reads,
                  std::vector<BufferId> const& writes) {
    Item item;
    item.number = item.horizon = next();
    item.lane = lane;
    item.kind = ItemKind::load_batch;  // an item of this kind may have any number of operands
    item.micro_batch = 0;
    for (BufferId const id : reads) item.reads.push_back(all_of(id));
    for (BufferId const id : writes) item.writes.push_back(all_of(id));
    program.items.push_back(std::move(item));
    program.segments.back().last = next();
    return program.items.back().number;
  }

  Program program;

 private:
  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }
  Access all_of(BufferId id) const {
    return {id, 0, program.buffers[static_cast<std::size_t>(id)].bytes, {}};
  }
};

}  // namespace spillway::test
