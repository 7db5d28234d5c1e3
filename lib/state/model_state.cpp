#include "state/model_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/bf16.hpp"
#include "base/cannot_start.hpp"
#include "base/check.hpp"
#include "base/checksum.hpp"
#include "base/math.hpp"
#include "base/process_memory.hpp"
#include "state/drawn_values.hpp"

namespace spillway {
namespace {

// Calls body(first, last) for each piece of [0, n). Several pieces run in parallel threads.
template <class Body>
void in_pieces(std::int64_t n, std::int64_t piece, Body const& body) {
  if (n <= piece) return body(0, n);
  std::int64_t const workers = available_cores();
  auto const work = [&](std::int64_t worker) {
    for (auto first = worker * piece; first < n; first += workers * piece)
      body(first, std::min(n, first + piece));
  };
  std::vector<std::jthread> threads;
  start_threads([&] {
    for (std::int64_t worker = 0; worker < std::min(workers, div_ceil(n, piece)); ++worker)
      threads.emplace_back(work, worker);
  });
}

float load(StoredPart const& stored, std::int64_t i) {
  if (stored.dtype == DType::f32) return reinterpret_cast<float const*>(stored.bytes)[i];
  auto const upper = reinterpret_cast<bf16 const*>(stored.bytes)[i];
  return stored.remainder != nullptr ? join_master(upper, stored.remainder[i]) : to_float(upper);
}

// Stores fp32 numbers as bf16 from element `first` on. If there are remainders, they take the lower
// halves of the numbers. A moment in bf16 has no remainder, since its lower half is zero.
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

void put(StoredPart const& stored, std::int64_t first, std::span<float const> from) {
  if (stored.dtype != DType::f32) return put_split(stored, first, from);
  std::ranges::copy(from, reinterpret_cast<float*>(stored.bytes) + first);
}

}  // namespace

ModelState::ModelState(Program const& program, Tiers const& tiers, int rank, bool is_there)
    : m_program(program), m_rank(rank), m_chunks(program.chunks.size()) {
  auto const stored = [&](TensorId tensor) -> StoredTensor {
    for (auto const& buffer : program.buffers) {
      if (tensor < 0 || buffer.tensor != tensor || !buffer.persistent) continue;
      return {tiers, buffer, program.tensors[static_cast<std::size_t>(tensor)].dtype, is_there};
    }
    return {};
  };
  for (std::size_t i = 0; i < m_chunks.size(); ++i) {
    auto const& chunk = program.chunks[i];
    m_chunks[i].parameter = stored(chunk.parameter);
    m_chunks[i].slice = stored(chunk.parameter_slice);
    check(m_chunks[i].parameter.exists() || m_chunks[i].slice.exists(), chunk.name,
          "its parameters are nowhere");
    for (State const& state : chunk.states) m_chunks[i].states.push_back(stored(state.tensor));
  }
}

// Returns the state of a chunk, and frees the windows of any other chunk. Only one chunk at a time
// may have windows, since the plan does not count the memory of windows.
ModelState::ChunkState& ModelState::open(int chunk) {
  if (m_open != chunk) release();
  m_open = chunk;
  return m_chunks[static_cast<std::size_t>(chunk)];
}

void ModelState::release() {
  if (m_open < 0) return;
  auto& chunk = m_chunks[static_cast<std::size_t>(m_open)];
  if (chunk.parameter.exists()) chunk.parameter.flush();
  if (chunk.slice.exists()) chunk.slice.flush();
  for (auto& state : chunk.states) state.flush();
  m_open = -1;
}

ElementRange ModelState::slice(int chunk) const {
  auto const slice = sharing(chunk).kept(m_program.chunks[chunk].elements, m_rank);
  return {slice.first, slice.first + slice.count};
}

ElementRange ModelState::of_parameter(int chunk, int parameter, ElementRange const& range) const {
  auto const& which = parameter_of(chunk, parameter);
  auto const all = element_count(which.shape()), offset = which.view.offset;
  if (which.is_quantized()) return {0, all};  // ranks do not share it out
  return {std::clamp<std::int64_t>(range.first - offset, 0, all),
          std::clamp<std::int64_t>(range.last - offset, 0, all)};
}

ElementRange ModelState::in_slice(int chunk, int parameter, std::int64_t number) const {
  auto const elements = m_program.chunks[static_cast<std::size_t>(chunk)].elements;
  auto const slice = gradient_slice(elements, number, m_program.ranks);
  return of_parameter(chunk, parameter, {slice.first, slice.first + slice.count});
}

std::int64_t ModelState::block_of(std::string_view part, int chunk) const {
  auto const& description = m_program.chunks[chunk];
  auto const state = description.state(part);
  if (state < 0) return 1;
  return block_elements(description, m_program.ranks, m_program.tensors[state]);
}

std::optional<ElementRange> ModelState::own_part(std::string_view part, int chunk,
                                                 int parameter) const {
  auto const& description = m_program.chunks[chunk];
  auto const& parts = description.parts_of(description.state(part));
  if (parts.empty()) return std::nullopt;
  return parts[static_cast<std::size_t>(parameter)];
}

std::optional<std::int64_t> ModelState::other_elements(std::string_view part, int chunk,
                                                       int parameter) const {
  auto const own = own_part(part, chunk, parameter);
  auto const& view = m_program.chunks[chunk].parameters[static_cast<std::size_t>(parameter)].view;
  if (!own || own->last - own->first == element_count(view.shape)) return std::nullopt;
  return own->last - own->first;
}

Shape ModelState::shape_of(std::string_view part, int chunk, int parameter) const {
  auto const& shape = parameter_of(chunk, parameter).shape();
  if (auto const other = other_elements(part, chunk, parameter)) return {*other};
  auto const block = block_of(part, chunk);
  if (block == 1) return shape;
  return {of_part(part, chunk, parameter, {0, element_count(shape)}).last};
}

ElementRange ModelState::of_part(std::string_view part, int chunk, int parameter,
                                 ElementRange const& range) const {
  if (auto const other = other_elements(part, chunk, parameter))
    return {0, range.first == 0 && range.last > 0 ? *other : 0};
  auto const block = block_of(part, chunk);
  if (block == 1 || range.first == range.last) return range;
  auto const& view = m_program.chunks[chunk].parameters[static_cast<std::size_t>(parameter)].view;
  auto const begin = view.offset / block;
  auto const first = range.first == 0 ? begin : div_ceil(view.offset + range.first, block);
  auto const last = div_ceil(view.offset + range.last, block);
  return {first - begin, std::max(first, last) - begin};
}

bool ModelState::keeps_all(int chunk) const {
  auto const& state = m_chunks[static_cast<std::size_t>(chunk)];
  return state.slice.exists() && state.parameter.exists();
}

// Returns where the chunk stores `part`, or null if it has no such part.
StoredTensor* ModelState::find(std::string_view part, int chunk) {
  auto& [parameter, slice, stored] = m_chunks[static_cast<std::size_t>(chunk)];
  if (part == kParameter) return slice.exists() ? &slice : &parameter;
  if (part == kWholeParameter) return keeps_all(chunk) ? &parameter : nullptr;
  auto const& states = m_program.chunks[static_cast<std::size_t>(chunk)].states;
  auto const found = std::ranges::find(states, part, &State::name);
  if (found == states.end()) return nullptr;
  return &stored[static_cast<std::size_t>(found - states.begin())];
}

std::optional<DType> ModelState::stored_type(std::string_view part, int chunk) {
  auto const* const tensor = find(part, chunk);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->dtype());
}

std::span<std::byte> ModelState::stored(std::string_view part, int chunk, int parameter,
                                        std::int64_t first, std::int64_t count, bool changes) {
  auto const& description = m_program.chunks[static_cast<std::size_t>(chunk)];
  auto* const tensor = find(part, chunk);
  auto const& view = description.parameters[static_cast<std::size_t>(parameter)].view;
  bool const is_whole = part == kWholeParameter;
  auto const own = is_whole ? ElementRange{0, element_count(view.shape)}
                            : of_part(part, chunk, parameter, owned(chunk, parameter));
  check(tensor != nullptr, description.name, "it has no such part");
  check(own.first <= first && first + count <= own.last, description.name,
        "another rank has what is asked for");
  auto const begin = is_whole ? 0 : slice(chunk).first, block = block_of(part, chunk);
  open(chunk);
  auto const at_own = own_part(part, chunk, parameter);
  auto const at = first + (at_own ? at_own->first : view.offset / block - begin / block);
  auto const size = std::min(count, kWindowElements - at % kWindowElements);
  return {tensor->at(at, changes), static_cast<std::size_t>(size * size_bytes(tensor->dtype()))};
}

StoredPart ModelState::locate(std::string_view part, int chunk, std::int64_t first, bool changes) {
  auto const moment = [&](StoredTensor& tensor) -> StoredPart {
    return {tensor.at(first, changes), nullptr, tensor.dtype()};
  };
  open(chunk);
  if (part != kMaster) {
    auto* const tensor = find(part, chunk);
    if (tensor == nullptr)
      throw std::logic_error(m_program.chunks[static_cast<std::size_t>(chunk)].name + ": has no " +
                             std::string(part));
    bool const has_numbers = tensor->dtype() == DType::f32 || tensor->dtype() == DType::bf16;
    check(has_numbers && block_of(part, chunk) == 1, part,
          "has no number for each of the parameter's elements");
    return moment(*tensor);
  }
  auto master = moment(*find(kParameter, chunk));
  if (auto* const remainder = find(kRemainder, chunk))
    master.remainder = reinterpret_cast<std::int16_t*>(remainder->at(first, changes));
  return master;
}

void ModelState::initialise(std::uint64_t seed) {
  initialise(seed, [](std::string const&) { return true; });
  complete();
}

void ModelState::initialise(std::uint64_t seed,
                            std::function<bool(std::string const&)> const& wants) {
  std::uint64_t number = 0;  // counts the parameters of all chunks
  for (auto const& chunk : m_program.chunks) {
    for (auto const& parameter : chunk.parameters) {
      if (wants(parameter.name)) draw(chunk, parameter, seed, number);
      ++number;
    }
  }
}

std::string ModelState::checksum_of_start(std::uint64_t seed) const {
  StreamingChecksum sum;
  std::vector<float> drawn(kDrawnAtOnce);
  fill_drawn(drawn, {Init::Kind::normal, 1}, {seed, 0}, 0);
  sum.add(std::as_bytes(std::span(drawn)));
  for (auto const& chunk : m_program.chunks) {
    for (auto const& parameter : chunk.parameters) {
      auto const& [kind, deviation] = parameter.init;
      auto const text =
          fmt::format("{} [{}] {} {}\n", parameter.name, fmt::join(parameter.shape(), ", "),
                      static_cast<int>(kind), deviation);
      sum.add(std::as_bytes(std::span(text)));
    }
  }
  return checksum_text(sum.value());
}

void ModelState::draw(Chunk const& chunk, Parameter const& parameter, std::uint64_t seed,
                      std::uint64_t number) {
  if (parameter.is_quantized()) return draw_quantized(chunk.id, parameter, seed, number);
  auto const own = slice(chunk.id);
  auto const begin = parameter.view.offset;
  auto const end = begin + element_count(parameter.view.shape);
  // Draws the chunk's elements of `range` into storage that begins with element `from`.
  auto const draw_range = [&](ElementRange range, std::int64_t from, auto const& stored_at) {
    if (range.first >= range.last) return;
    in_windows(range.first - from, range.last - range.first, [&](auto window, auto size) {
      auto const stored = stored_at(range.first - from + window);
      in_pieces(size, kDrawnAtOnce, [&](auto first, auto last) {
        std::vector<float> values(static_cast<std::size_t>(last - first));
        fill_drawn(values, parameter.init, {seed, number}, range.first - begin + window + first);
        put(stored, first, values);
      });
    });
  };
  draw_range({std::max(begin, own.first), std::min(end, own.last)}, own.first,
             [&](std::int64_t at) { return locate(kMaster, chunk.id, at, true); });
  if (!keeps_all(chunk.id)) return;
  draw_range({begin, end}, 0, [&](std::int64_t at) { return locate_whole(chunk.id, at); });
}

StoredPart ModelState::locate_whole(int chunk, std::int64_t first) {
  auto& whole = open(chunk).parameter;
  return {whole.at(first, true), nullptr, whole.dtype()};
}

std::int64_t ModelState::stored_at(std::string_view part, int chunk, int parameter,
                                   std::int64_t element) const {
  check(!other_elements(part, chunk, parameter), part,
        "has no number for each of the parameter's elements");
  if (auto const own = own_part(part, chunk, parameter)) return own->first + element;
  auto const& view = m_program.chunks[chunk].parameters[static_cast<std::size_t>(parameter)].view;
  return view.offset + element - slice(chunk).first;
}

void ModelState::read(std::string_view part, int chunk, int parameter, std::int64_t first,
                      std::span<float> to) {
  if (parameter_of(chunk, parameter).is_quantized())
    return read_quantized(chunk, parameter_of(chunk, parameter), first, to);
  auto const& description = m_program.chunks[static_cast<std::size_t>(chunk)];
  auto const own = owned(chunk, parameter);
  check(to.empty() || (own.first <= first && first + std::ssize(to) <= own.last), description.name,
        "another rank has what is read");
  auto const begin = stored_at(part, chunk, parameter, first);
  in_windows(begin, std::ssize(to), [&](auto at, auto size) {
    auto const stored = locate(part, chunk, begin + at, false);
    for (std::int64_t i = 0; i < size; ++i) to[static_cast<std::size_t>(at + i)] = load(stored, i);
  });
}

void ModelState::write(std::string_view part, int chunk, int parameter, std::int64_t first,
                       std::span<float const> from) {
  if (parameter_of(chunk, parameter).is_quantized())
    return write_quantized(chunk, parameter_of(chunk, parameter), first, from);
  auto const& description = m_program.chunks[static_cast<std::size_t>(chunk)];
  auto const offset = description.parameters[static_cast<std::size_t>(parameter)].view.offset;
  auto const values = [&](std::int64_t at, std::int64_t size) {
    return from.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  };
  auto const own = owned(chunk, parameter);
  auto const begin = std::max(first, own.first);
  auto const end = std::min(first + std::ssize(from), own.last);
  auto const stored = stored_at(part, chunk, parameter, begin);
  in_windows(stored, std::max<std::int64_t>(0, end - begin), [&](auto at, auto size) {
    put(locate(part, chunk, stored + at, true), 0, values(begin - first + at, size));
  });
  if (part != kMaster || !keeps_all(chunk)) return;
  in_windows(offset + first, std::ssize(from), [&](auto at, auto size) {
    put(locate_whole(chunk, offset + first + at), 0, values(at, size));
  });
}

void ModelState::complete() {
  for (auto const& description : m_program.chunks) {
    auto& chunk = open(description.id);
    if (chunk.parameter.exists()) chunk.parameter.complete();
    if (chunk.slice.exists()) chunk.slice.complete();
    for (auto& state : chunk.states) state.complete();
  }
  release();
}

}  // namespace spillway
