// A convolution, or its gradient to the images, as one product of matrices: rows are places of the result, columns its
// channels, and what is summed over are windows' places (taps) times channels of the map that is read. The matrix of
// windows is never stored: each row gathers its pixels while it is copied to shared memory.
//
// To the images (BACK) the roles change: the map read is the gradient, and the place (h, w) of an image was seen by tap
// r from the result at (h + padding - r) / stride where that divides. With a stride, images' places fall into
// stride x stride classes that each see only their own taps; blockIdx.z is the class, so that no product with zero is made.
//
// Defined outside: BM, BN (tile of a block), THREADS, WM, WN (tile of a warp, but where warps multiply in groups), BACK, POOL.

#define WARPS_N (BN / WN)
#if WARP_GROUPS
// Four warps share 64 rows, and groups that are below one another all columns.
#define GROUPS_M (BM / 64)
#define ROWS_WARP 16
#define COLUMNS_WARP (BN / (THREADS / 128 / GROUPS_M))
#else
#define ROWS_WARP WM
#define COLUMNS_WARP WN
#endif
#define STAGES 3
#define BK 16
// Sums go out over shared memory, so many rows at a time; a pitch of eight more than columns keeps eight rows in their own banks.
#define ROWS_OUT 64
#define PITCH_OUT (BN + 8)
#define ROWS_A (BM * 4 / THREADS)
#define ROWS_B ((BN * 4 + THREADS - 1) / THREADS)

struct Sizes {
  int samples;
  int in_height, in_width;    // of the map that is read
  int in_pixel;               // floats from one pixel of it to the next
  int chunks;                 // fours of channels of it
  int out_height, out_width;  // of the result, before pooling
  int columns;                // channels of the result
  int kernel_height, kernel_width;
  int stride, padding;
  int activation;  // 0 none, 1 ReLU, 2 ReLU up to 6
  int has_bias, has_around;
};

// Where a four of the sum lies: which tap, which channels.
struct Place {
  int row, column, chunk;
  __device__ __forceinline__ void settle(int chunks, int taps_across) {
    while (chunk >= chunks) {
      chunk -= chunks;
      if (++column == taps_across) {
        column = 0;
        row++;
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(THREADS)
product(const float* __restrict__ map, const float* __restrict__ weight, const float* __restrict__ bias,
        const float* __restrict__ around, float* __restrict__ result, u8* __restrict__ winners, const Sizes sizes) {
  __shared__ __align__(1024) float tiles[STAGES * (BM + BN) * BK];
  float(*tile_a)[BM * BK] = (float(*)[BM * BK])tiles, (*tile_b)[BN * BK] = (float(*)[BN * BK])(tiles + STAGES * BM * BK);
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
#if WARP_GROUPS
  const int warp_m = warp / 4 % GROUPS_M * 64 + warp % 4 * 16, warp_n = warp / 4 / GROUPS_M * COLUMNS_WARP;
#else
  const int warp_m = warp / WARPS_N * WM, warp_n = warp % WARPS_N * WN;
#endif
  const int first_row = blockIdx.x * BM, first_column = blockIdx.y * BN;

#if BACK
  const int class_h = blockIdx.z / sizes.stride, class_w = blockIdx.z % sizes.stride;
  const int tap_h = (class_h + sizes.padding) % sizes.stride, tap_w = (class_w + sizes.padding) % sizes.stride;
  const int taps_h = max(0, (sizes.kernel_height - tap_h + sizes.stride - 1) / sizes.stride);
  const int taps_w = max(0, (sizes.kernel_width - tap_w + sizes.stride - 1) / sizes.stride);
  const int grid_h = max(0, (sizes.out_height - class_h + sizes.stride - 1) / sizes.stride);
  const int grid_w = max(0, (sizes.out_width - class_w + sizes.stride - 1) / sizes.stride);
  const int shift_h = (class_h + sizes.padding - tap_h) / sizes.stride;
  const int shift_w = (class_w + sizes.padding - tap_w) / sizes.stride;
#else
  const int taps_h = sizes.kernel_height, taps_w = sizes.kernel_width;
#if POOL
  const int grid_h = (sizes.out_height + 1) / 2, grid_w = (sizes.out_width + 1) / 2;
#else
  const int grid_h = sizes.out_height, grid_w = sizes.out_width;
#endif
#endif
  const int rows = sizes.samples * grid_h * grid_w * (POOL ? 4 : 1);
  if (first_row >= rows) return;

  // This thread copies fours of one column of the tile; of A for these rows.
  const int column = thread & 3;
  int image[ROWS_A], top[ROWS_A], left[ROWS_A];
#pragma unroll
  for (int i = 0; i < ROWS_A; i++) {
    const int row = first_row + (thread >> 2) + i * (THREADS / 4);
    int place = POOL ? row >> 2 : row;
    const int w = place % grid_w;
    place /= grid_w;
    const int h = place % grid_h, n = place / grid_h;
    image[i] = n * sizes.in_height * sizes.in_width;
#if BACK
    top[i] = h + shift_h;
    left[i] = w + shift_w;
#elif POOL
    top[i] = (h * 2 + ((row >> 1) & 1)) * sizes.stride - sizes.padding;
    left[i] = (w * 2 + (row & 1)) * sizes.stride - sizes.padding;
#else
    top[i] = h * sizes.stride - sizes.padding;
    left[i] = w * sizes.stride - sizes.padding;
#endif
    if (row >= rows) {
      // No pixel is there, whatever the tap.
      image[i] = 0;
      top[i] = -(1 << 28);
    }
  }
  const int pitch = sizes.kernel_height * sizes.kernel_width * sizes.chunks * 4;
  const int steps = (taps_h * taps_w * sizes.chunks + 3) / 4;
  Place place = {0, 0, column};
  place.settle(sizes.chunks, taps_w);

  auto copy = [&](int stage) {
    const bool summed = place.row < taps_h;
    const int swizzle_row = thread >> 2;
#pragma unroll
    for (int i = 0; i < ROWS_A; i++) {
      const int row = swizzle_row + i * (THREADS / 4);
      const int h = BACK ? top[i] - place.row : top[i] + place.row;
      const int w = BACK ? left[i] - place.column : left[i] + place.column;
      const bool inside = summed && (u32)h < (u32)sizes.in_height && (u32)w < (u32)sizes.in_width;
      const float* from =
          inside ? map + (long long)(image[i] + h * sizes.in_width + w) * sizes.in_pixel + place.chunk * 4 : map;
      copy16(&tile_a[stage][row * BK + ((column ^ ((row >> 1) & 3)) << 2)], from, inside);
    }
#if BACK
    const int tap = (tap_h + place.row * sizes.stride) * sizes.kernel_width + tap_w + place.column * sizes.stride;
#else
    const int tap = place.row * sizes.kernel_width + place.column;
#endif
#pragma unroll
    for (int i = 0; i < ROWS_B; i++) {
      const int row = swizzle_row + i * (THREADS / 4);
      if (BN * 4 % THREADS != 0 && row >= BN) break;
      const bool inside = summed && first_column + row < sizes.columns;
      const float* from =
          inside ? weight + (long long)(first_column + row) * pitch + (tap * sizes.chunks + place.chunk) * 4 : weight;
      copy16(&tile_b[stage][row * BK + ((column ^ ((row >> 1) & 3)) << 2)], from, inside);
    }
    place.chunk += 4;
    place.settle(sizes.chunks, taps_w);
  };

  float sums[ROWS_WARP / 16][COLUMNS_WARP / 8][4] = {};
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; stage++) {
    if (stage < steps) copy(stage);
    close_copies();
  }
  const int a_row = warp_m + (lane & 15), a_chunk = lane >> 4;
#if !WARP_GROUPS
  const int b_row = warp_n + (lane & 7) + ((lane >> 4) << 3), b_chunk = (lane >> 3) & 1;
#endif
  int stage = 0;
  for (int step = 0; step < steps; step++) {
    await_copies<STAGES - 2>();
#if WARP_GROUPS
    show_copies();
    // The stage that is copied to next is the one that these products read.
    await_products();
    settle(sums[0]);
#endif
    __syncthreads();
    const int next = stage == 0 ? STAGES - 1 : stage - 1;
#if WARP_GROUPS
    u32 a[2][4];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      load_blocks(a[half], shared_address(&tile_a[stage][a_row * BK + (((half * 2 + a_chunk) ^ ((a_row >> 1) & 3)) << 2)]));
#pragma unroll
      for (int i = 0; i < 4; i++) a[half][i] = rounded(a[half][i]);
    }
    open_products();
#pragma unroll
    for (int half = 0; half < 2; half++)
      multiply_group(sums[0], a[half], described(&tile_b[stage][warp_n * BK + half * 8]));
    close_products();
#endif
    if (step + STAGES - 1 < steps) copy(next);
    close_copies();
#if !WARP_GROUPS
#pragma unroll
    for (int half = 0; half < 2; half++) {
      u32 a[WM / 16][4], b[WN / 16][4];
#pragma unroll
      for (int m = 0; m < WM / 16; m++) {
        const int row = a_row + m * 16;
        load_blocks(a[m], shared_address(&tile_a[stage][row * BK + (((half * 2 + a_chunk) ^ ((row >> 1) & 3)) << 2)]));
#pragma unroll
        for (int i = 0; i < 4; i++) a[m][i] = rounded(a[m][i]);
      }
#pragma unroll
      for (int n = 0; n < WN / 16; n++) {
        const int row = b_row + n * 16;
        load_blocks(b[n], shared_address(&tile_b[stage][row * BK + (((half * 2 + b_chunk) ^ ((row >> 1) & 3)) << 2)]));
      }
#pragma unroll
      for (int m = 0; m < WM / 16; m++)
#pragma unroll
        for (int n = 0; n < WN / 8; n++) multiply(sums[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
    }
#endif
    stage = stage == STAGES - 1 ? 0 : stage + 1;
  }
#if WARP_GROUPS
  await_products();
  settle(sums[0]);
#endif

  const bool fours = sizes.columns % 4 == 0;
#pragma unroll 1
  for (int begin = 0; begin < BM; begin += ROWS_OUT) {
    // The tiles, or the rows before, are not read any more.
    __syncthreads();
#pragma unroll
    for (int m = 0; m < ROWS_WARP / 16; m++) {
      const int row = warp_m + m * 16 - begin;
      if (row < 0 || row >= ROWS_OUT) continue;
      float* to = tiles + (row + (lane >> 2)) * PITCH_OUT + warp_n + (lane & 3) * 2;
#pragma unroll
      for (int n = 0; n < COLUMNS_WARP / 8; n++) {
        *(float2*)(to + n * 8) = make_float2(sums[m][n][0], sums[m][n][1]);
        *(float2*)(to + 8 * PITCH_OUT + n * 8) = make_float2(sums[m][n][2], sums[m][n][3]);
      }
    }
    __syncthreads();
    for (int i = thread; i < ROWS_OUT / (POOL ? 4 : 1) * (BN / 4); i += THREADS) {
      const int four = i % (BN / 4) * 4, channel = first_column + four, line = i / (BN / 4);
      const int row = first_row + begin + line * (POOL ? 4 : 1);
      if (row >= rows || channel >= sizes.columns) continue;
      float value[4];
      *(float4*)value = *(const float4*)(tiles + line * (POOL ? 4 : 1) * PITCH_OUT + four);
#if POOL
      // Of each four the first of the largest wins; what is no number wins over all.
      const int window = row >> 2, w = window % grid_w, h = window / grid_w % grid_h;
      u32 winner = 0;
#pragma unroll
      for (int part = 1; part < 4; part++) {
        if (h * 2 + (part >> 1) >= sizes.out_height || w * 2 + (part & 1) >= sizes.out_width) continue;
        float other[4];
        *(float4*)other = *(const float4*)(tiles + (line * 4 + part) * PITCH_OUT + four);
#pragma unroll
        for (int j = 0; j < 4; j++)
          if (other[j] > value[j] || (other[j] != other[j] && value[j] == value[j])) {
            value[j] = other[j];
            winner = (winner & ~(255u << j * 8)) | part << j * 8;
          }
      }
      const long long pixel = window;
#elif BACK
      const int w = row % grid_w, h = row / grid_w % grid_h, n = row / grid_w / grid_h;
      const long long pixel = ((long long)n * sizes.out_height + h * sizes.stride + class_h) * sizes.out_width +
                              w * sizes.stride + class_w;
#else
      const long long pixel = row;
#endif
      const long long place = pixel * sizes.columns + channel;
      float beside[4] = {};
      if (sizes.has_around && fours) *(float4*)beside = *(const float4*)(around + place);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        if (channel + j >= sizes.columns) break;
        if (sizes.has_around && !fours) beside[j] = around[place + j];
        if (sizes.has_bias) beside[j] += bias[channel + j];
        value[j] = activated(value[j] + beside[j], sizes.activation);
        if (!fours) result[place + j] = value[j];
#if POOL
        if (!fours) winners[place + j] = winner >> j * 8;
#endif
      }
      if (!fours) continue;
      *(float4*)(result + place) = *(const float4*)value;
#if POOL
      *(u32*)(winners + place) = winner;
#endif
    }
  }
}
