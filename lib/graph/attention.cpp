#include "graph/attention.hpp"

namespace spillway {

Attributes to_attributes(AttentionDescriptor const& d) {
  auto const number = [](auto value) { return static_cast<double>(value); };
  return {{"batch", number(d.batch)},       {"queries", number(d.queries)},
          {"keys", number(d.keys)},         {"heads", number(d.heads)},
          {"kv_heads", number(d.kv_heads)}, {"head_size", number(d.head_size)},
          {"mask", number(d.mask)},         {"bias", number(d.bias)},
          {"window", number(d.window)},     {"scale", d.scale}};
}

AttentionDescriptor attention_descriptor(Attributes const& attributes) {
  return {.batch = attributes.integer("batch"),
          .queries = attributes.integer("queries"),
          .keys = attributes.integer("keys"),
          .heads = attributes.integer("heads"),
          .kv_heads = attributes.integer("kv_heads"),
          .head_size = attributes.integer("head_size"),
          .mask = static_cast<MaskKind>(attributes.integer("mask")),
          .bias = attributes.flag("bias"),
          .window = attributes.integer("window"),
          .scale = attributes.at("scale")};
}

}  // namespace spillway
