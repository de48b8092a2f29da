// Vectors of frames, those of a sample one after another: what is kept of them over time.

struct TimeSizes {
  int samples, frames, width;
  int averaged;  // numbers at the front that are averaged; of the rest the largest is kept
  int has_along; // whether something is added
  int cuts;      // whether what is negative then becomes zero
};

// The first frame that has the largest number; what is no number is larger than all.
__device__ __forceinline__ int winner(const float* from, int frames, int width, float& most) {
  int first = 0;
  most = from[0];
  for (int frame = 1; frame < frames; frame++) {
    const float value = from[(long long)frame * width];
    if (value > most || (value != value && most == most)) {
      most = value;
      first = frame;
    }
  }
  return first;
}

#ifdef ONLY_over_time
extern "C" __global__ void over_time(const float* __restrict__ frames, const float* __restrict__ along,
                                     float* __restrict__ result, const TimeSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int sample = index / sizes.width, number = index % sizes.width;
  if (sample >= sizes.samples) return;
  const float* from = frames + (long long)sample * sizes.frames * sizes.width + number;
  float value = 0.0f;
  if (number < sizes.averaged) {
#pragma unroll 8
    for (int frame = 0; frame < sizes.frames; frame++) value += from[(long long)frame * sizes.width];
    value /= sizes.frames;
  } else {
    winner(from, sizes.frames, sizes.width, value);
  }
  if (sizes.has_along) value += along[index];
  // Written so that what is no number stays none.
  if (sizes.cuts && value < 0.0f) value = 0.0f;
  result[index] = value;
}
#endif

#ifdef ONLY_over_time_gradient
extern "C" __global__ void over_time_gradient(const float* __restrict__ gradient, const float* __restrict__ frames,
                                              const float* __restrict__ result, float* __restrict__ of_frames,
                                              float* __restrict__ of_along, const TimeSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int sample = index / sizes.width, number = index % sizes.width;
  if (sample >= sizes.samples) return;
  float slope = gradient[index];
  if (sizes.cuts && !(result[index] > 0.0f)) slope = 0.0f;
  if (sizes.has_along) of_along[index] = slope;
  const long long first = (long long)sample * sizes.frames * sizes.width + number;
  if (number < sizes.averaged) {
    slope /= sizes.frames;
#pragma unroll 8
    for (int frame = 0; frame < sizes.frames; frame++) of_frames[first + (long long)frame * sizes.width] = slope;
  } else {
    float most;
    const int won = winner(frames + first, sizes.frames, sizes.width, most);
    for (int frame = 0; frame < sizes.frames; frame++)
      of_frames[first + (long long)frame * sizes.width] = frame == won ? slope : 0.0f;
  }
}
#endif

#ifdef ONLY_with_earlier
// Each frame's numbers, and behind them the largest that each was in the frames before; at first nothing was, which is 0.
extern "C" __global__ void with_earlier(const float* __restrict__ now, float* __restrict__ both, const TimeSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int sample = index / sizes.width, number = index % sizes.width;
  if (sample >= sizes.samples) return;
  float earlier = 0.0f;
  for (int frame = 0; frame < sizes.frames; frame++) {
    const long long row = (long long)sample * sizes.frames + frame;
    const float value = now[row * sizes.width + number];
    both[row * 2 * sizes.width + number] = value;
    both[row * 2 * sizes.width + sizes.width + number] = earlier;
    if (value > earlier || value != value) earlier = value;
  }
}
#endif

#ifdef ONLY_with_earlier_gradient
extern "C" __global__ void with_earlier_gradient(const float* __restrict__ gradient, const float* __restrict__ both,
                                                 float* __restrict__ of_now, const TimeSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int sample = index / sizes.width, number = index % sizes.width;
  if (sample >= sizes.samples) return;
  // What later frames ask of the largest so far: it goes to the frame that it was taken from.
  float later = 0.0f;
  for (int frame = sizes.frames - 1; frame >= 0; frame--) {
    const long long row = (long long)sample * sizes.frames + frame, place = row * 2 * sizes.width + number;
    float slope = gradient[place];
    if (both[place] > both[place + sizes.width]) {
      slope += later;
      later = 0.0f;
    }
    of_now[row * sizes.width + number] = slope;
    later += gradient[place + sizes.width];
  }
}
#endif
