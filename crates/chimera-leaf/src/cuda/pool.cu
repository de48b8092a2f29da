// Poolings over maps with channels last.

struct WindowSizes {
  int samples, in_height, in_width, out_height, out_width, channels;
  int kernel, stride, padding;
};

#if defined(ONLY_largest) || defined(ONLY_largest_gradient)
// Defined outside: WIDE, channels that a thread takes, four or one. Fours of a map are fewer than 32 bits count.
#if WIDE == 4
typedef u32 Count;
#else
typedef unsigned long long Count;
#endif

__device__ __forceinline__ void load(float (&to)[WIDE], const float* from) {
#if WIDE == 4
  *(float4*)to = *(const float4*)from;
#else
  to[0] = *from;
#endif
}

__device__ __forceinline__ void store(float* to, const float (&from)[WIDE]) {
#if WIDE == 4
  *(float4*)to = *(const float4*)from;
#else
  *to = from[0];
#endif
}
#endif

#ifdef ONLY_largest
// The largest of each window, and which of its places that was.
extern "C" __global__ void largest(const float* __restrict__ maps, float* __restrict__ result, u8* __restrict__ winners,
                                   const WindowSizes sizes) {
  Count rest = (Count)blockIdx.x * blockDim.x + threadIdx.x;
  const long long place = (long long)rest * WIDE;
  const int channel = rest % (sizes.channels / WIDE) * WIDE;
  rest /= sizes.channels / WIDE;
  const int column = rest % sizes.out_width;
  rest /= sizes.out_width;
  const int row = rest % sizes.out_height;
  const long long sample = rest / sizes.out_height;
  if (sample >= sizes.samples) return;
  float most[WIDE];
  u32 winner[WIDE];
#pragma unroll
  for (int i = 0; i < WIDE; i++) most[i] = __int_as_float(0xff800000), winner[i] = 0;
  for (int r = 0; r < sizes.kernel; r++)
    for (int s = 0; s < sizes.kernel; s++) {
      const int h = row * sizes.stride - sizes.padding + r, w = column * sizes.stride - sizes.padding + s;
      if ((u32)h >= (u32)sizes.in_height || (u32)w >= (u32)sizes.in_width) continue;
      float value[WIDE];
      load(value, maps + ((sample * sizes.in_height + h) * sizes.in_width + w) * sizes.channels + channel);
      // What is no number wins and stays.
#pragma unroll
      for (int i = 0; i < WIDE; i++)
        if (value[i] > most[i] || value[i] != value[i]) most[i] = value[i], winner[i] = r * sizes.kernel + s;
    }
  store(result + place, most);
#pragma unroll
  for (int i = 0; i < WIDE; i++) winners[place + i] = (u8)winner[i];
}
#endif

#ifdef ONLY_largest_gradient
extern "C" __global__ void largest_gradient(const float* __restrict__ gradient, const u8* __restrict__ winners,
                                            float* __restrict__ to, const WindowSizes sizes) {
  Count rest = (Count)blockIdx.x * blockDim.x + threadIdx.x;
  const long long target = (long long)rest * WIDE;
  const int channel = rest % (sizes.channels / WIDE) * WIDE;
  rest /= sizes.channels / WIDE;
  const int column = rest % sizes.in_width;
  rest /= sizes.in_width;
  const int row = rest % sizes.in_height;
  const long long sample = rest / sizes.in_height;
  if (sample >= sizes.samples) return;
  float sum[WIDE] = {};
  // The windows that see this place: from the first that reaches down to it to the last that begins above it.
  const int down = row + sizes.padding, across = column + sizes.padding;
  const int top = max(0, (down - sizes.kernel + sizes.stride) / sizes.stride);
  const int left = max(0, (across - sizes.kernel + sizes.stride) / sizes.stride);
  const int bottom = min(sizes.out_height - 1, down / sizes.stride), right = min(sizes.out_width - 1, across / sizes.stride);
  for (int h = top; h <= bottom; h++)
    for (int w = left; w <= right; w++) {
      const long long place = ((sample * sizes.out_height + h) * sizes.out_width + w) * sizes.channels + channel;
      const u32 part = (down - h * sizes.stride) * sizes.kernel + across - w * sizes.stride;
      float value[WIDE];
      load(value, gradient + place);
#pragma unroll
      for (int i = 0; i < WIDE; i++)
        if (winners[place + i] == part) sum[i] += value[i];
    }
  store(to + target, sum);
}
#endif

// What the small network keeps of its last maps: means over the cells of a grid, and the most that each detector saw.
struct SummarySizes {
  int samples, height, width, channels, detectors, grid;
};

__device__ __forceinline__ int cell_begin(int cell, int size, int grid) { return cell * size / grid; }
__device__ __forceinline__ int cell_end(int cell, int size, int grid) { return ((cell + 1) * size + grid - 1) / grid; }

#ifdef ONLY_summary
extern "C" __global__ void summary(const float* __restrict__ maps, const float* __restrict__ detected,
                                   float* __restrict__ result, int* __restrict__ winners, const SummarySizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int means = sizes.grid * sizes.grid * sizes.channels, all = means + sizes.detectors;
  const int sample = index / all, number = index % all;
  if (sample >= sizes.samples) return;
  if (number < means) {
    const int channel = number % sizes.channels, cell = number / sizes.channels;
    const int top = cell_begin(cell / sizes.grid, sizes.height, sizes.grid);
    const int bottom = cell_end(cell / sizes.grid, sizes.height, sizes.grid);
    const int left = cell_begin(cell % sizes.grid, sizes.width, sizes.grid);
    const int right = cell_end(cell % sizes.grid, sizes.width, sizes.grid);
    float sum = 0.0f;
    for (int h = top; h < bottom; h++)
      for (int w = left; w < right; w++)
        sum += maps[(((long long)sample * sizes.height + h) * sizes.width + w) * sizes.channels + channel];
    result[index] = sum / ((bottom - top) * (right - left));
  } else {
    const int detector = number - means, places = sizes.height * sizes.width;
    const float* from = detected + (long long)sample * places * sizes.detectors + detector;
    float most = from[0];
    int winner = 0;
#pragma unroll 8
    for (int place = 1; place < places; place++) {
      const float value = from[(long long)place * sizes.detectors];
      if (value > most || value != value) {
        most = value;
        winner = place;
      }
    }
    result[index] = most;
    winners[sample * sizes.detectors + detector] = winner;
  }
}
#endif

#ifdef ONLY_summary_gradient
extern "C" __global__ void summary_gradient(const float* __restrict__ gradient, const int* __restrict__ winners,
                                            float* __restrict__ of_maps, float* __restrict__ of_detected,
                                            const SummarySizes sizes) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int both = sizes.channels + sizes.detectors;
  const int number = index % both, places = sizes.height * sizes.width;
  const long long pixel = index / both;
  const int place = pixel % places, sample = pixel / places;
  if (sample >= sizes.samples) return;
  const int means = sizes.grid * sizes.grid * sizes.channels;
  const float* from = gradient + (long long)sample * (means + sizes.detectors);
  if (number < sizes.channels) {
    const int h = place / sizes.width, w = place % sizes.width;
    float sum = 0.0f;
    for (int down = 0; down < sizes.grid; down++) {
      const int top = cell_begin(down, sizes.height, sizes.grid), bottom = cell_end(down, sizes.height, sizes.grid);
      if (h < top || h >= bottom) continue;
      for (int across = 0; across < sizes.grid; across++) {
        const int left = cell_begin(across, sizes.width, sizes.grid), right = cell_end(across, sizes.width, sizes.grid);
        if (w < left || w >= right) continue;
        sum += from[(down * sizes.grid + across) * sizes.channels + number] / ((bottom - top) * (right - left));
      }
    }
    of_maps[pixel * sizes.channels + number] = sum;
  } else {
    const int detector = number - sizes.channels;
    const bool won = winners[sample * sizes.detectors + detector] == place;
    of_detected[pixel * sizes.detectors + detector] = won ? from[means + detector] : 0.0f;
  }
}
#endif
