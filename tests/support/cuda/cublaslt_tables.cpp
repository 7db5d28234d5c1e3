// Lists the attributes that the stand-in knows and the values that it supports.
#include <cublasLt.h>

#include <cstddef>

#include "tests/support/cuda/cublaslt_attributes.hpp"

namespace spillway::test::cuda {

#define SPILLWAY_HAS(attribute, object, member)                            \
  .id = attribute, .name = #attribute, .offset = offsetof(object, member), \
  .bytes = sizeof(object::member)
#define SPILLWAY_LACKS(attribute) \
  { .id = attribute, .name = #attribute }

std::span<Attribute const> attributes(LtMatmul const&) {
  static std::vector<Attribute> const table = {
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, LtMatmul, compute_type),
       .allowed = {CUBLAS_COMPUTE_32F}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_SCALE_TYPE, LtMatmul, scale_type),
       .allowed = {CUDA_R_32F}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_POINTER_MODE, LtMatmul, pointer_mode),
       .allowed = {CUBLASLT_POINTER_MODE_HOST}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_TRANSA, LtMatmul, transpose_a),
       .allowed = {CUBLAS_OP_N, CUBLAS_OP_T}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_TRANSB, LtMatmul, transpose_b),
       .allowed = {CUBLAS_OP_N, CUBLAS_OP_T}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_TRANSC, LtMatmul, transpose_c), .allowed = {CUBLAS_OP_N}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_EPILOGUE, LtMatmul, epilogue),
       .allowed = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_BIAS_POINTER, LtMatmul, bias)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, LtMatmul, bias_batch_stride)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, LtMatmul, bias_type),
       .allowed = {-1, CUDA_R_32F, CUDA_R_16BF}},
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_FILL_MODE),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_DESC_FAST_ACCUM),
      // Headers of CUDA 12 do not define all of these, so they are given by number.
      {.id = 31, .name = "CUBLASLT_MATMUL_DESC_A_SCALE_MODE"},
      {.id = 32, .name = "CUBLASLT_MATMUL_DESC_B_SCALE_MODE"},
      {.id = 33, .name = "CUBLASLT_MATMUL_DESC_C_SCALE_MODE"},
      {.id = 34, .name = "CUBLASLT_MATMUL_DESC_D_SCALE_MODE"},
      {.id = 35, .name = "CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE"},
      {.id = 36, .name = "CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER"},
      {.id = 37, .name = "CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE"},
      {.id = 38, .name = "CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR"},
  };
  return table;
}

std::span<Attribute const> attributes(LtLayout const&) {
  static std::vector<Attribute> const table = {
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_TYPE, LtLayout, type),
       .allowed = {CUDA_R_32F, CUDA_R_16BF}},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_ORDER, LtLayout, order),
       .allowed = {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_ROWS, LtLayout, rows)},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_COLS, LtLayout, cols)},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_LD, LtLayout, ld)},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, LtLayout, batch_count)},
      {SPILLWAY_HAS(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, LtLayout, batch_stride)},
      SPILLWAY_LACKS(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET),
      // Headers of CUDA 12 lack this one.
      {.id = 8, .name = "CUBLASLT_MATRIX_LAYOUT_BATCH_MODE"},
  };
  return table;
}

std::span<Attribute const> attributes(LtPreference const&) {
  static std::vector<Attribute> const table = {
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_SEARCH_MODE, LtPreference, search_mode),
       .allowed = {CUBLASLT_SEARCH_BEST_FIT}},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, LtPreference, most_workspace_bytes)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, LtPreference, reduction_schemes)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, LtPreference, alignment_a_bytes)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, LtPreference, alignment_b_bytes)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, LtPreference, alignment_c_bytes)},
      {SPILLWAY_HAS(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, LtPreference, alignment_d_bytes)},
      SPILLWAY_LACKS(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT),
      SPILLWAY_LACKS(CUBLASLT_MATMUL_PREF_IMPL_MASK),
  };
  return table;
}

std::span<Attribute const> attributes(Algorithm const&) {
  static std::vector<Attribute> const table = {
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_ID, Algorithm, config.id), .read_only = true},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_TILE_ID, Algorithm, config.tile)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, Algorithm, config.splits)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, Algorithm, config.reduction_scheme)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, Algorithm, config.swizzling)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, Algorithm, config.custom_option)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_STAGES_ID, Algorithm, config.stages)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, Algorithm, config.inner_shape)},
      {SPILLWAY_HAS(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, Algorithm, config.cluster_shape)},
  };
  return table;
}

#undef SPILLWAY_HAS
#undef SPILLWAY_LACKS

}  // namespace spillway::test::cuda
