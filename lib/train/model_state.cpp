#include "train/model_state.hpp"

#include <algorithm>
#include <cassert>
#include <thread>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "base/normal.hpp"
#include "base/philox.hpp"
#include "runtime/arena.hpp"
#include "runtime/process_memory.hpp"

namespace spillway {
namespace {

struct NormalDraws {
  std::uint64_t seed, parameter;
  float std;

  // A counter gives a pair of elements. A function of its own: GCC keeps a struct that is declared
  // in a simd loop in memory.
  void draw(std::uint64_t pair, float* even, float* odd) const {
    auto const block = philox(seed, parameter, pair);
    auto const normals = normal_pair(block.x[0], block.x[1]);
    *even = std * normals.cos;
    *odd = std * normals.sin;
  }
};

// The elements from `first` on, which is even.
void fill_normal(std::span<float> to, NormalDraws const& draws, std::int64_t first) {
  auto* const out = to.data();
  auto const begin = static_cast<std::uint64_t>(first) / 2, pairs = to.size() / 2;
#pragma omp simd
  for (std::uint64_t i = 0; i < pairs; ++i) draws.draw(begin + i, out + 2 * i, out + 2 * i + 1);
  float unused;
  if (to.size() % 2 != 0) draws.draw(begin + pairs, &to.back(), &unused);
}

// Runs body(first, last) over [0, n) in pieces, on all processors of this rank.
template <class Body>
void in_pieces(std::int64_t n, std::int64_t piece, Body const& body) {
  std::int64_t const workers = available_cores();
  std::vector<std::jthread> threads;
  for (std::int64_t worker = 0; worker < std::min(workers, div_ceil(n, piece)); ++worker) {
    threads.emplace_back([&, worker] {
      for (auto first = worker * piece; first < n; first += workers * piece) {
        body(first, std::min(n, first + piece));
      }
    });
  }
}

float load(StoredPart const& stored, std::int64_t i) {
  if (stored.dtype == DType::f32) return reinterpret_cast<float const*>(stored.bytes)[i];
  auto const upper = reinterpret_cast<bf16 const*>(stored.bytes)[i];
  return stored.remainder != nullptr ? join_master(upper, stored.remainder[i]) : to_float(upper);
}

// Numbers from element `first` on, as a bf16 each and the remainders, if there are any. A bf16
// moment is exact in its upper half.
void put_split(StoredPart const& stored, std::int64_t first, std::span<float const> from) {
  auto* const upper = reinterpret_cast<std::uint16_t*>(stored.bytes) + first;
  auto const* const in = from.data();
  auto const n = std::ssize(from);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) upper[i] = split_master(in[i]).parameter.bits;
  if (stored.remainder == nullptr) return;
  auto* const rest = stored.remainder + first;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) rest[i] = split_master(in[i]).remainder;
}

}  // namespace

ModelState::ModelState(Program const& program, Arena& device)
    : m_program(program), m_bytes(program.chunks.size()) {
  auto const place = [&](TensorId tensor) -> std::byte* {
    for (auto const& buffer : program.buffers) {
      if (tensor < 0 || buffer.tensor != tensor || !buffer.persistent) continue;
      return device.at(buffer.offset, buffer.bytes);
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < m_bytes.size(); ++i) {
    auto const& chunk = program.chunks[i];
    m_bytes[i] = {place(chunk.parameter), place(chunk.remainder), place(chunk.moment1),
                  place(chunk.moment2)};
    assert(m_bytes[i].parameter != nullptr);
  }
}

StoredPart ModelState::locate(StatePart part, int chunk, int parameter) const {
  auto const& description = m_program.chunks[static_cast<std::size_t>(chunk)];
  auto const& bytes = m_bytes[static_cast<std::size_t>(chunk)];
  auto const dtype = [&](TensorId id) {
    return m_program.tensors[static_cast<std::size_t>(id)].dtype;
  };
  auto const first = description.parameters[static_cast<std::size_t>(parameter)].view.offset;
  switch (part) {
    case StatePart::master:
      return {bytes.parameter, reinterpret_cast<std::int16_t*>(bytes.remainder),
              dtype(description.parameter), first};
    case StatePart::moment1:
      return {bytes.moment1, nullptr, dtype(description.moment1), first};
    case StatePart::moment2:
      return {bytes.moment2, nullptr, dtype(description.moment2), first};
  }
  return {};
}

void ModelState::initialise(std::uint64_t seed) {
  constexpr std::int64_t piece = 1 << 16;
  std::uint64_t number = 0;  // of the parameter, over all chunks
  for (auto const& chunk : m_program.chunks) {
    for (std::size_t p = 0; p < chunk.parameters.size(); ++p, ++number) {
      auto const& parameter = chunk.parameters[p];
      in_pieces(element_count(parameter.view.shape), piece, [&](auto first, auto last) {
        std::vector<float> values(static_cast<std::size_t>(last - first));
        if (parameter.init.kind == Init::Kind::ones) std::ranges::fill(values, 1.0f);
        if (parameter.init.kind == Init::Kind::normal) {
          fill_normal(values, {seed, number, static_cast<float>(parameter.init.std)}, first);
        }
        write(StatePart::master, chunk.id, static_cast<int>(p), first, values);
      });
    }
  }
}

void ModelState::read(StatePart part, int chunk, int parameter, std::int64_t first,
                      std::span<float> to) const {
  auto const stored = locate(part, chunk, parameter);
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = load(stored, stored.first + first + static_cast<std::int64_t>(i));
  }
}

void ModelState::write(StatePart part, int chunk, int parameter, std::int64_t first,
                       std::span<float const> from) {
  auto const stored = locate(part, chunk, parameter);
  auto const begin = stored.first + first;
  if (stored.dtype == DType::f32) {
    std::ranges::copy(from, reinterpret_cast<float*>(stored.bytes) + begin);
  } else {
    put_split(stored, begin, from);
  }
}

}  // namespace spillway
