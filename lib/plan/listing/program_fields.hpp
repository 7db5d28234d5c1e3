// The fields of a Program by the names that files give them, as graph_fields.hpp has a Graph's.
#pragma once

#include "plan/data/program.hpp"
#include "plan/listing/graph_fields.hpp"

namespace spillway {

template <Of<Buffer> T>
void visit_fields(T& buffer, auto const& field) {
  auto& [id, name, tensor, tier, bytes, offset, versions, stride, persistent, spanning] = buffer;
  field("id", id);
  field("name", name);
  field("tensor", tensor);
  field("tier", tier);
  field("bytes", bytes);
  field("offset", offset);
  field("versions", versions);
  field("stride", stride);
  field("persistent", persistent);
  field("spanning", spanning);
}

template <Of<Access> T>
void visit_fields(T& access, auto const& field) {
  auto& [buffer, first, last, writers] = access;
  field("buffer", buffer);
  field("first", first);
  field("last", last);
  field("writers", writers);
}

template <Of<Item> T>
void visit_fields(T& item, auto const& field) {
  auto& [number, lane, kind, op, block, chunk, operands, reads, writes, waits, horizon] = item;
  field("number", number);
  field("lane", lane);
  field("kind", kind);
  field("op", op);
  field("block", block);
  field("chunk", chunk);
  field("operands", operands);
  field("reads", reads);
  field("writes", writes);
  field("waits", waits);
  field("horizon", horizon);
}

template <Of<Segment> T>
void visit_fields(T& segment, auto const& field) {
  auto& [name, first, last] = segment;
  field("name", name);
  field("first", first);
  field("last", last);
}

template <Of<Program> T>
void visit_fields(T& program, auto const& field) {
  auto& [purpose, micro_batches, ranks, tensors, ops, chunks, known, arithmetic, buffers, items,
         segments, peak_bytes, persistent_bytes, once, redo] = program;
  field("purpose", purpose);
  field("micro_batches", micro_batches);
  field("ranks", ranks);
  field("once", once);
  field("redo", redo);
  field("peak_bytes", peak_bytes);
  field("persistent_bytes", persistent_bytes);
  field("segments", segments);
  field("items", items);
  field("buffers", buffers);
  field("tensors", tensors);
  field("ops", ops);
  field("chunks", chunks);
  field("known", known);
  field("arithmetic", arithmetic);
}

}  // namespace spillway
