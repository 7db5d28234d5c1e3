// Gives a kernel its operands as typed pointers with names. Everything here is made from
// graph/op_kinds.def.
#pragma once

#include <cstdint>

#include "graph/op.hpp"

namespace spillway {

// Holds a pointer to the first element of every operand, or null if the op lacks the operand. T, G
// and M are the element types that graph/op_kinds.def uses.
template <OpKind kind, class T, class G = T, class M = G>
struct Pointers;

#define IN(type, name) type const* name;
#define OUT(type, name) type* name;
#define IN_IF IN
#define OUT_IF OUT
#define SPILLWAY_OP(row, rule, list)                      \
  template <class T, class G, class M>                    \
  struct Pointers<OpKind::row, T, G, M> {                 \
    list void* workspace; /* null if the op needs none */ \
    /* Names the operands that a Launch is given. */      \
    static Pointers of(void* const* p);                   \
  };
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef OUT

#define IN(type, name) static_cast<type const*>(*p++),
#define OUT(type, name) static_cast<type*>(*p++),
#define SPILLWAY_OP(row, rule, list)                                                  \
  template <class T, class G, class M>                                                \
  Pointers<OpKind::row, T, G, M> Pointers<OpKind::row, T, G, M>::of(void* const* p) { \
    return {list * p};                                                                \
  }
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef OUT
#undef IN_IF
#undef OUT_IF

}  // namespace spillway
