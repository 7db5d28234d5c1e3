#include "kernels/host/product.hpp"

#include "kernels/host/onednn/isa.hpp"

namespace spillway::host {
namespace {

using Way = std::variant<OneDnnMatmul, TileMatmul, RowProduct>;

bool uses_tiles(DType dtype, TileKernels const& tiles, bool portable) {
  return tiles.matrix_unit || portable || !onednn_multiplies(dtype);
}

Way choose(MatmulShape const& shape, std::int64_t threads, bool portable) {
  if (RowProduct::offers(shape)) return RowProduct(shape);
  auto const& tiles = tile_kernels(shape.a.dtype, portable);
  if (uses_tiles(shape.a.dtype, tiles, portable)) return TileMatmul(shape, tiles, threads);
  return OneDnnMatmul(shape, threads);
}

}  // namespace

Matmul::Matmul(MatmulShape const& shape, std::int64_t threads, bool portable)
    : m_way(choose(shape, threads, portable)) {}

std::int64_t Matmul::workspace_bytes() const {
  return std::visit([](auto const& way) { return way.workspace_bytes(); }, m_way);
}

std::string Matmul::implementation() const {
  return std::visit([](auto const& way) { return way.implementation(); }, m_way);
}

void Matmul::operator()(Exec const& exec, MatmulOperands const& operands) const {
  if (auto const* tiles = std::get_if<TileMatmul>(&m_way)) return (*tiles)(exec, operands);
  if (auto const* row = std::get_if<RowProduct>(&m_way)) return (*row)(exec, operands);
  std::get<OneDnnMatmul>(m_way)(operands);
}

std::int64_t padded_columns(DType dtype, std::int64_t columns, bool portable) {
  bool const in_tiles = uses_tiles(dtype, tile_kernels(dtype, portable), portable);
  return in_tiles ? padded_depth(columns) : columns;
}

std::string matmul_isa() {
  return onednn_isa() + ", tiles " + tile_kernels(DType::bf16, false).name + " and " +
         tile_kernels(DType::f32, false).name;
}

}  // namespace spillway::host
