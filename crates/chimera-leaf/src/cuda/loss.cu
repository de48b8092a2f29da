// Binary cross-entropy over the labels that are known, and its gradient in the same pass. One block: sums always have the
// same order.

#define THREADS 1024

struct LossSizes {
  int count, concepts;
  int has_weights;
};

#ifdef ONLY_cross_entropy
// The sum over all threads, at all of them.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float held[THREADS / 32];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  if (threadIdx.x % 32 == 0) held[threadIdx.x / 32] = value;
  __syncthreads();
  value = held[threadIdx.x % 32];
  __syncthreads();
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
cross_entropy(const float* __restrict__ logits, const float* __restrict__ labels, const float* __restrict__ known,
              const float* __restrict__ weights, float* __restrict__ loss, float* __restrict__ gradient,
              const LossSizes sizes) {
  float seen = 0.0f;
  for (int i = threadIdx.x; i < sizes.count; i += THREADS) seen += known[i];
  const float all = block_sum(seen);
  const float share = 1.0f / (all < 1.0f ? 1.0f : all);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < sizes.count; i += THREADS) {
    const float x = logits[i], y = labels[i];
    float part = known[i] * share;
    if (sizes.has_weights) part *= y * (weights[i % sizes.concepts] - 1.0f) + 1.0f;
    // Written so that what is no number stays none.
    sum += ((x < 0.0f ? 0.0f : x) - x * y + log1pf(expf(-fabsf(x)))) * part;
    gradient[i] = (1.0f / (1.0f + expf(-x)) - y) * part;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) loss[0] = sum;
}
#endif

#ifdef ONLY_cross_entropy_gradient
extern "C" __global__ void cross_entropy_gradient(const float* __restrict__ upper, const float* __restrict__ gradient,
                                                  float* __restrict__ to, const LossSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < sizes.count) to[index] = upper[0] * gradient[index];
}
#endif
