// The gradient to weights as a product of matrices: rows are channels of the result, columns taps times channels of the
// images, and the sum runs over all places of the result. Blocks share the places (blockIdx.z); each writes its part of
// the sum to a buffer of its own and `finish` adds them in order, so that a step gives the same bits every time.
//
// A last four of columns stands for the bias: its first number is one at every place.
//
// Defined outside: BM, BN, WM, WN, STAGES.

#define WARPS_N (BN / WN)
#define THREADS ((BM / WM) * WARPS_N * 32)
#define BK 16
// Rows of tiles are eight longer, so that the four rows that a warp reads at once lie in different banks.
#define PITCH_A (BM + 8)
#define PITCH_B (BN + 8)
#define COLUMNS_A (BM / 4)
#define COLUMNS_B (BN / 4)
#define PASSES_A ((BK * COLUMNS_A + THREADS - 1) / THREADS)
#define PASSES_B ((BK * COLUMNS_B + THREADS - 1) / THREADS)

struct Sizes {
  int samples;
  int in_height, in_width;
  int in_pixel;
  int chunks;
  int out_height, out_width;
  int out_pixel;  // floats from one place of the gradient to the next, a multiple of four
  int outputs;
  int kernel_height, kernel_width;
  int stride, padding;
  int columns;  // of the parts, with those of the bias
  int share;    // places a block, a multiple of 16
};

__device__ float one_four[4] = {1.0f, 0.0f, 0.0f, 0.0f};

extern "C" __global__ void __launch_bounds__(THREADS)
weight_gradient(const float* __restrict__ images, const float* __restrict__ gradient, float* __restrict__ parts,
                const Sizes sizes) {
  __shared__ __align__(128) float tile_a[STAGES][BK * PITCH_A];
  __shared__ __align__(128) float tile_b[STAGES][BK * PITCH_B];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int warp_m = warp / WARPS_N * WM, warp_n = warp % WARPS_N * WN;
  const int first_output = blockIdx.y * BM, first_column = blockIdx.x * BN;
  const int places = sizes.samples * sizes.out_height * sizes.out_width;
  const int begin = blockIdx.z * sizes.share, end = min(places, begin + sizes.share);
  const int steps = (end - begin + BK - 1) / BK;

  const int a_column = thread % COLUMNS_A, a_row = thread / COLUMNS_A;
  const bool a_inside = first_output + a_column * 4 < sizes.out_pixel;
  const int b_column = thread % COLUMNS_B, b_row = thread / COLUMNS_B;
  const int chunk_column = first_column / 4 + b_column;
  const int weight_chunks = sizes.kernel_height * sizes.kernel_width * sizes.chunks;
  const int tap = chunk_column / sizes.chunks, chunk = chunk_column % sizes.chunks;
  const int shift_h = tap / sizes.kernel_width - sizes.padding, shift_w = tap % sizes.kernel_width - sizes.padding;

  // The places that this thread copies: sample, row and column of each, moved on by BK a step.
  int sample[PASSES_B], row[PASSES_B], column[PASSES_B];
#pragma unroll
  for (int i = 0; i < PASSES_B; i++) {
    const int place = begin + b_row + i * (THREADS / COLUMNS_B);
    column[i] = place % sizes.out_width;
    row[i] = place / sizes.out_width % sizes.out_height;
    sample[i] = place / sizes.out_width / sizes.out_height;
  }
  int step_begin = begin;
  auto copy = [&](int stage) {
#pragma unroll
    for (int i = 0; i < PASSES_A; i++) {
      const int k = a_row + i * (THREADS / COLUMNS_A);
      if (BK * COLUMNS_A % THREADS != 0 && k >= BK) break;
      const bool inside = a_inside && step_begin + k < end;
      const float* from =
          inside ? gradient + (long long)(step_begin + k) * sizes.out_pixel + first_output + a_column * 4 : gradient;
      copy16(&tile_a[stage][k * PITCH_A + a_column * 4], from, inside);
    }
#pragma unroll
    for (int i = 0; i < PASSES_B; i++) {
      const int k = b_row + i * (THREADS / COLUMNS_B);
      if (BK * COLUMNS_B % THREADS != 0 && k >= BK) break;
      bool inside = step_begin + k < end;
      const float* from = images;
      if (chunk_column < weight_chunks) {
        const int h = row[i] * sizes.stride + shift_h, w = column[i] * sizes.stride + shift_w;
        inside = inside && (u32)h < (u32)sizes.in_height && (u32)w < (u32)sizes.in_width;
        if (inside)
          from = images + (long long)((sample[i] * sizes.in_height + h) * sizes.in_width + w) * sizes.in_pixel +
                 chunk * 4;
      } else {
        inside = inside && chunk_column == weight_chunks;
        from = one_four;
      }
      copy16(&tile_b[stage][k * PITCH_B + b_column * 4], from, inside);
      column[i] += BK;
      while (column[i] >= sizes.out_width) {
        column[i] -= sizes.out_width;
        if (++row[i] == sizes.out_height) {
          row[i] = 0;
          sample[i]++;
        }
      }
    }
    step_begin += BK;
  };

  float sums[WM / 16][WN / 8][4] = {};
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; stage++) {
    if (stage < steps) copy(stage);
    close_copies();
  }
  const int group = lane >> 2, member = lane & 3;
  int stage = 0;
  for (int step = 0; step < steps; step++) {
    await_copies<STAGES - 2>();
    __syncthreads();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
    if (step + STAGES - 1 < steps) copy(next);
    close_copies();
#pragma unroll
    for (int half = 0; half < 2; half++) {
      u32 a[WM / 16][4], b[WN / 8][2];
      const float* line_a = &tile_a[stage][(half * 8 + member) * PITCH_A + warp_m + group];
      const float* line_b = &tile_b[stage][(half * 8 + member) * PITCH_B + warp_n + group];
#pragma unroll
      for (int m = 0; m < WM / 16; m++)
#pragma unroll
        for (int i = 0; i < 4; i++)
          a[m][i] = rounded(__float_as_uint(line_a[(i >> 1) * 4 * PITCH_A + m * 16 + (i & 1) * 8]));
#pragma unroll
      for (int n = 0; n < WN / 8; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) b[n][i] = rounded(__float_as_uint(line_b[i * 4 * PITCH_B + n * 8]));
#pragma unroll
      for (int m = 0; m < WM / 16; m++)
#pragma unroll
        for (int n = 0; n < WN / 8; n++) multiply(sums[m][n], a[m], b[n][0], b[n][1]);
    }
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }

#pragma unroll
  for (int m = 0; m < WM / 16; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int output = first_output + warp_m + m * 16 + half * 8 + group;
      if (output >= sizes.outputs) continue;
      float* line = parts + ((long long)blockIdx.z * sizes.outputs + output) * sizes.columns;
#pragma unroll
      for (int n = 0; n < WN / 8; n++) {
        const int column = first_column + warp_n + n * 8 + member * 2;
        if (column < sizes.columns) *(float2*)(line + column) = make_float2(sums[m][n][half * 2], sums[m][n][half * 2 + 1]);
      }
    }
}
