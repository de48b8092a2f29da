// Batch normalisation over maps with channels last, with what follows it: the way around added, and an activation.
// Channels go by fours. Sums over all places are made in two steps: a part a block, then the parts in order.
//
// Defined outside: LANES, threads side by side on channels (each takes four); DEEP threads are below one another.

#define DEEP (256 / LANES)

struct Sizes {
  int places, channels;
  int share;  // places a block
  int blocks;
  int activation;
  int has_around;
  float epsilon, momentum;
};

__device__ __forceinline__ float4 load4(const float* from) { return *(const float4*)from; }

// Adds what the threads of a channel hold, and writes it.
__device__ __forceinline__ void write_parts(const float (&first)[4], const float (&second)[4], float* parts,
                                            const Sizes& sizes, int channel) {
  __shared__ float held[DEEP][LANES * 8];
  const int lane = threadIdx.x % LANES, depth = threadIdx.x / LANES;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    held[depth][lane * 8 + i] = first[i];
    held[depth][lane * 8 + 4 + i] = second[i];
  }
  __syncthreads();
  if (threadIdx.x >= LANES * 8) return;
  float sum = 0.0f;
  for (int i = 0; i < DEEP; i++) sum += held[i][threadIdx.x];
  const int owner = threadIdx.x / 8, number = threadIdx.x % 8;
  const int of = (blockIdx.y * LANES + owner) * 4 + number % 4;
  if (of < sizes.channels) parts[((long long)blockIdx.x * 2 + number / 4) * sizes.channels + of] = sum;
}

// Sums of values and of their squares, both less the channel's first value: a large mean would swallow the variance.
#ifdef ONLY_statistics
extern "C" __global__ void __launch_bounds__(256)
statistics(const float* __restrict__ input, float* __restrict__ parts, const Sizes sizes) {
  const int lane = threadIdx.x % LANES, depth = threadIdx.x / LANES;
  const int channel = (blockIdx.y * LANES + lane) * 4;
  float sum[4] = {}, square[4] = {};
  if (channel < sizes.channels) {
    const float4 shift = load4(input + channel);
    const int end = min(sizes.places, (int)(blockIdx.x + 1) * sizes.share);
#pragma unroll 4
    for (int place = blockIdx.x * sizes.share + depth; place < end; place += DEEP) {
      const float4 value = load4(input + (long long)place * sizes.channels + channel);
      const float x = value.x - shift.x, y = value.y - shift.y, z = value.z - shift.z, w = value.w - shift.w;
      sum[0] += x, sum[1] += y, sum[2] += z, sum[3] += w;
      square[0] += x * x, square[1] += y * y, square[2] += z * z, square[3] += w * w;
    }
  }
  write_parts(sum, square, parts, sizes, channel);
}
#endif

// Adds the parts of 32 channels: the sums of one arrive at its first thread.
__device__ __forceinline__ bool add_parts(const float* parts, const Sizes& sizes, int channel, float& first, float& second) {
  __shared__ float held[2][8][32];
  const int lane = threadIdx.x % 32, depth = threadIdx.x / 32;
  first = second = 0.0f;
  if (channel < sizes.channels) {
#pragma unroll 4
    for (int part = depth; part < sizes.blocks; part += 8) {
      first += parts[(long long)part * 2 * sizes.channels + channel];
      second += parts[((long long)part * 2 + 1) * sizes.channels + channel];
    }
  }
  held[0][depth][lane] = first;
  held[1][depth][lane] = second;
  __syncthreads();
  if (depth > 0 || channel >= sizes.channels) return false;
  first = second = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) first += held[0][i][lane], second += held[1][i][lane];
  return true;
}

// Mean and one over the deviation of each channel, and the running statistics after this batch, which may lie where those
// before it are.
#ifdef ONLY_finish_statistics
extern "C" __global__ void __launch_bounds__(256)
finish_statistics(const float* __restrict__ input, const float* __restrict__ parts,
                  const float* running_mean, const float* running_variance, float* __restrict__ found, float* new_mean,
                  float* new_variance, const Sizes sizes) {
  const int channel = blockIdx.x * 32 + threadIdx.x % 32;
  float sum, square;
  if (!add_parts(parts, sizes, channel, sum, square)) return;
  const float offset = sum / sizes.places;
  const float mean = input[channel] + offset;
  const float variance = fmaxf(square / sizes.places - offset * offset, 0.0f);
  found[channel] = mean;
  found[sizes.channels + channel] = 1.0f / sqrtf(variance + sizes.epsilon);
  // The batch is normalised by the biased variance, the running one follows the unbiased.
  const float unbiased = variance * ((float)sizes.places / fmaxf(sizes.places - 1.0f, 1.0f));
  new_mean[channel] = running_mean[channel] * (1.0f - sizes.momentum) + mean * sizes.momentum;
  new_variance[channel] = running_variance[channel] * (1.0f - sizes.momentum) + unbiased * sizes.momentum;
}
#endif

#ifdef ONLY_normalise
extern "C" __global__ void __launch_bounds__(256)
normalise(const float* __restrict__ input, const float* __restrict__ found, const float* __restrict__ weight,
          const float* __restrict__ bias, const float* __restrict__ around, float* __restrict__ result, const Sizes sizes) {
  const long long index = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (index >= (long long)sizes.places * sizes.channels) return;
  const int channel = index % sizes.channels;
  const float4 x = load4(input + index), mean = load4(found + channel), inverse = load4(found + sizes.channels + channel);
  const float4 w = load4(weight + channel), b = load4(bias + channel);
  float4 y = make_float4((x.x - mean.x) * inverse.x * w.x + b.x, (x.y - mean.y) * inverse.y * w.y + b.y,
                         (x.z - mean.z) * inverse.z * w.z + b.z, (x.w - mean.w) * inverse.w * w.w + b.w);
  if (sizes.has_around) {
    const float4 a = load4(around + index);
    y.x += a.x, y.y += a.y, y.z += a.z, y.w += a.w;
  }
  *(float4*)(result + index) = make_float4(activated(y.x, sizes.activation), activated(y.y, sizes.activation),
                                           activated(y.z, sizes.activation), activated(y.w, sizes.activation));
}
#endif

// The gradient that an activation lets pass.
__device__ __forceinline__ float4 passed(const float* gradient, const float* result, long long index, int activation) {
  float4 g = load4(gradient + index);
  if (activation != 0) {
    const float4 y = load4(result + index);
    const float top = activation == 2 ? 6.0f : __int_as_float(0x7f800000);
    if (!(y.x > 0.0f && y.x < top)) g.x = 0.0f;
    if (!(y.y > 0.0f && y.y < top)) g.y = 0.0f;
    if (!(y.z > 0.0f && y.z < top)) g.z = 0.0f;
    if (!(y.w > 0.0f && y.w < top)) g.w = 0.0f;
  }
  return g;
}

// Sums of the gradient, and of it times what was normalised.
#ifdef ONLY_gradient_sums
extern "C" __global__ void __launch_bounds__(256)
gradient_sums(const float* __restrict__ gradient, const float* __restrict__ result, const float* __restrict__ input,
              const float* __restrict__ found, float* __restrict__ parts, const Sizes sizes) {
  const int lane = threadIdx.x % LANES, depth = threadIdx.x / LANES;
  const int channel = (blockIdx.y * LANES + lane) * 4;
  float sum[4] = {}, product[4] = {};
  if (channel < sizes.channels) {
    const float4 mean = load4(found + channel), inverse = load4(found + sizes.channels + channel);
    const int end = min(sizes.places, (int)(blockIdx.x + 1) * sizes.share);
#pragma unroll 4
    for (int place = blockIdx.x * sizes.share + depth; place < end; place += DEEP) {
      const long long index = (long long)place * sizes.channels + channel;
      const float4 g = passed(gradient, result, index, sizes.activation), x = load4(input + index);
      sum[0] += g.x, sum[1] += g.y, sum[2] += g.z, sum[3] += g.w;
      product[0] += g.x * (x.x - mean.x) * inverse.x;
      product[1] += g.y * (x.y - mean.y) * inverse.y;
      product[2] += g.z * (x.z - mean.z) * inverse.z;
      product[3] += g.w * (x.w - mean.w) * inverse.w;
    }
  }
  write_parts(sum, product, parts, sizes, channel);
}
#endif

#ifdef ONLY_finish_gradient_sums
extern "C" __global__ void __launch_bounds__(256)
finish_gradient_sums(const float* __restrict__ parts, float* __restrict__ of_weight, float* __restrict__ of_bias,
                     const Sizes sizes) {
  const int channel = blockIdx.x * 32 + threadIdx.x % 32;
  float sum, product;
  if (!add_parts(parts, sizes, channel, sum, product)) return;
  of_bias[channel] = sum;
  of_weight[channel] = product;
}
#endif

// The gradient to what was normalised and, where an activation cut that of the way around, to that too.
#ifdef ONLY_normalise_gradient
extern "C" __global__ void __launch_bounds__(256)
normalise_gradient(const float* __restrict__ gradient, const float* __restrict__ result, const float* __restrict__ input,
                   const float* __restrict__ found, const float* __restrict__ weight,
                   const float* __restrict__ of_weight, const float* __restrict__ of_bias, float* __restrict__ of_input,
                   float* __restrict__ of_around, const Sizes sizes) {
  const long long index = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (index >= (long long)sizes.places * sizes.channels) return;
  const int channel = index % sizes.channels;
  const float4 g = passed(gradient, result, index, sizes.activation), x = load4(input + index);
  const float4 mean = load4(found + channel), inverse = load4(found + sizes.channels + channel);
  const float4 w = load4(weight + channel), dw = load4(of_weight + channel), db = load4(of_bias + channel);
  const float share = 1.0f / sizes.places;
  *(float4*)(of_input + index) =
      make_float4(w.x * inverse.x * (g.x - (db.x + (x.x - mean.x) * inverse.x * dw.x) * share),
                  w.y * inverse.y * (g.y - (db.y + (x.y - mean.y) * inverse.y * dw.y) * share),
                  w.z * inverse.z * (g.z - (db.z + (x.z - mean.z) * inverse.z * dw.z) * share),
                  w.w * inverse.w * (g.w - (db.w + (x.w - mean.w) * inverse.w * dw.w) * share));
  if (sizes.has_around) *(float4*)(of_around + index) = g;
}
#endif
