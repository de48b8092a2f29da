// Convolutions in which a channel sees only itself, over maps with channels last, and their gradients. They read far more
// than they compute, so plain loops do.
//
// Defined outside: KERNEL, height and width of a window.

#define TAPS (KERNEL * KERNEL)
// Places across that a thread computes, with weights that it loads once.
#define ACROSS 4

struct Sizes {
  int samples, in_height, in_width, out_height, out_width, channels;
  int stride, padding;
  int activation, has_bias;
  int share;  // places a block
  int parts;
};

#ifdef ONLY_depthwise
extern "C" __global__ void depthwise(const float* __restrict__ images, const float* __restrict__ weight,
                                     const float* __restrict__ bias, float* __restrict__ result, const Sizes sizes) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = index % sizes.channels;
  long long rest = index / sizes.channels;
  const int groups = (sizes.out_width + ACROSS - 1) / ACROSS;
  const int left = rest % groups * ACROSS;
  rest /= groups;
  const int row = rest % sizes.out_height;
  const long long sample = rest / sizes.out_height;
  if (sample >= sizes.samples) return;
  float window[TAPS];
#pragma unroll
  for (int tap = 0; tap < TAPS; tap++) window[tap] = weight[channel * TAPS + tap];
  const float offset = sizes.has_bias ? bias[channel] : 0.0f;
#pragma unroll
  for (int i = 0; i < ACROSS; i++) {
    const int column = left + i;
    if (column >= sizes.out_width) break;
    float sum = offset;
#pragma unroll
    for (int r = 0; r < KERNEL; r++)
#pragma unroll
      for (int s = 0; s < KERNEL; s++) {
        const int h = row * sizes.stride - sizes.padding + r, w = column * sizes.stride - sizes.padding + s;
        if ((u32)h < (u32)sizes.in_height && (u32)w < (u32)sizes.in_width)
          sum += window[r * KERNEL + s] *
                 images[((sample * sizes.in_height + h) * sizes.in_width + w) * sizes.channels + channel];
      }
    result[((sample * sizes.out_height + row) * sizes.out_width + column) * sizes.channels + channel] =
        activated(sum, sizes.activation);
  }
}
#endif

#ifdef ONLY_depthwise_images
extern "C" __global__ void depthwise_images(const float* __restrict__ gradient, const float* __restrict__ weight,
                                            float* __restrict__ to, const Sizes sizes) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = index % sizes.channels;
  long long rest = index / sizes.channels;
  const int column = rest % sizes.in_width;
  rest /= sizes.in_width;
  const int row = rest % sizes.in_height;
  const long long sample = rest / sizes.in_height;
  if (sample >= sizes.samples) return;
  float sum = 0.0f;
#pragma unroll
  for (int r = 0; r < KERNEL; r++)
#pragma unroll
    for (int s = 0; s < KERNEL; s++) {
      const int down = row + sizes.padding - r, across = column + sizes.padding - s;
      if (down < 0 || across < 0 || down % sizes.stride != 0 || across % sizes.stride != 0) continue;
      const int h = down / sizes.stride, w = across / sizes.stride;
      if (h < sizes.out_height && w < sizes.out_width)
        sum += weight[channel * TAPS + r * KERNEL + s] *
               gradient[((sample * sizes.out_height + h) * sizes.out_width + w) * sizes.channels + channel];
    }
  to[index] = sum;
}
#endif

// Parts of the gradient to weights: 32 channels a block, and of the places a share. The last number is that of the bias.
#ifdef ONLY_depthwise_weights
extern "C" __global__ void __launch_bounds__(256)
depthwise_weights(const float* __restrict__ images, const float* __restrict__ gradient, float* __restrict__ parts,
                  const Sizes sizes) {
  __shared__ float held[8][32];
  const int lane = threadIdx.x % 32, depth = threadIdx.x / 32;
  const int channel = blockIdx.y * 32 + lane;
  const int places = sizes.samples * sizes.out_height * sizes.out_width;
  const int end = min(places, (int)(blockIdx.x + 1) * sizes.share);
  float sums[TAPS + 1] = {};
  if (channel < sizes.channels) {
    for (int place = blockIdx.x * sizes.share + depth; place < end; place += 8) {
      const int column = place % sizes.out_width, row = place / sizes.out_width % sizes.out_height;
      const long long sample = place / sizes.out_width / sizes.out_height;
      const float g = gradient[(long long)place * sizes.channels + channel];
      sums[TAPS] += g;
#pragma unroll
      for (int r = 0; r < KERNEL; r++)
#pragma unroll
        for (int s = 0; s < KERNEL; s++) {
          const int h = row * sizes.stride - sizes.padding + r, w = column * sizes.stride - sizes.padding + s;
          if ((u32)h < (u32)sizes.in_height && (u32)w < (u32)sizes.in_width)
            sums[r * KERNEL + s] += g * images[((sample * sizes.in_height + h) * sizes.in_width + w) * sizes.channels + channel];
        }
    }
  }
#pragma unroll
  for (int tap = 0; tap < TAPS + 1; tap++) {
    held[depth][lane] = sums[tap];
    __syncthreads();
    if (depth == 0 && channel < sizes.channels) {
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; i++) sum += held[i][lane];
      parts[((long long)blockIdx.x * (TAPS + 1) + tap) * sizes.channels + channel] = sum;
    }
    __syncthreads();
  }
}
#endif

#ifdef ONLY_finish_depthwise
extern "C" __global__ void __launch_bounds__(256)
finish_depthwise(const float* __restrict__ parts, float* __restrict__ weight, float* __restrict__ bias,
                 const Sizes sizes) {
  const int index = blockIdx.x * 32 + threadIdx.x % 32;
  const int count = (TAPS + 1) * sizes.channels;
  float sum;
  if (!sum_parts(parts + index, sizes.parts, count, index < count, sum)) return;
  const int tap = index / sizes.channels, channel = index % sizes.channels;
  if (tap < TAPS)
    weight[channel * TAPS + tap] = sum;
  else if (sizes.has_bias)
    bias[channel] = sum;
}
#endif
