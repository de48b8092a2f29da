// What stands around the products: weights, maps and gradients brought into the form that they read.

// Weights [outputs][inputs][taps] to [outputs][taps][inputs in fours] for the forward product and, where `both`, to
// [inputs][taps][outputs in fours] for the gradient to images. Both are rounded for tensor cores once, here.
struct PackSizes {
  int outputs, inputs, taps;
  int padded_inputs, padded_outputs;
  int both;
};

#ifdef ONLY_pack_weights
extern "C" __global__ void pack_weights(const float* __restrict__ weight, float* __restrict__ forth,
                                        float* __restrict__ back, const PackSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int count_forth = sizes.outputs * sizes.taps * sizes.padded_inputs;
  if (index < count_forth) {
    const int input = index % sizes.padded_inputs, rest = index / sizes.padded_inputs;
    const int tap = rest % sizes.taps, output = rest / sizes.taps;
    float value = input < sizes.inputs ? weight[(output * sizes.inputs + input) * sizes.taps + tap] : 0.0f;
    forth[index] = __uint_as_float(rounded(__float_as_uint(value)));
  } else if (sizes.both) {
    const int place = index - count_forth;
    const int output = place % sizes.padded_outputs, rest = place / sizes.padded_outputs;
    const int tap = rest % sizes.taps, input = rest / sizes.taps;
    if (input >= sizes.inputs) return;
    float value = output < sizes.outputs ? weight[(output * sizes.inputs + input) * sizes.taps + tap] : 0.0f;
    back[place] = __uint_as_float(rounded(__float_as_uint(value)));
  }
}
#endif

// The parts of the gradient to weights, summed in order and brought to [outputs][inputs][taps]; the column after all
// weights is that of the bias.
struct FinishSizes {
  int outputs, inputs, taps;
  int padded_inputs;
  int columns;
  int parts;
  int has_bias;
};

#ifdef ONLY_finish_weights
extern "C" __global__ void __launch_bounds__(256)
finish_weights(const float* __restrict__ parts, float* __restrict__ weight, float* __restrict__ bias,
               const FinishSizes sizes) {
  const int index = blockIdx.x * 32 + threadIdx.x % 32;
  const int output = index / sizes.columns, column = index % sizes.columns;
  const int tap = column / sizes.padded_inputs, input = column % sizes.padded_inputs;
  const bool of_weight = output < sizes.outputs && tap < sizes.taps && input < sizes.inputs;
  const bool of_bias = output < sizes.outputs && sizes.has_bias && column == sizes.taps * sizes.padded_inputs;
  float sum;
  if (!sum_parts(parts + index, sizes.parts, (long long)sizes.outputs * sizes.columns, of_weight || of_bias, sum)) return;
  if (of_weight)
    weight[(output * sizes.inputs + input) * sizes.taps + tap] = sum;
  else
    bias[output] = sum;
}
#endif

// A map of any strides to channels last, in fours.
struct SpreadSizes {
  int samples, height, width, channels, padded;
  int sample_stride, row_stride, column_stride, channel_stride;
};

#ifdef ONLY_spread
extern "C" __global__ void spread(const float* __restrict__ from, float* __restrict__ to, const SpreadSizes sizes) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = index % sizes.padded;
  long long rest = index / sizes.padded;
  const int column = rest % sizes.width;
  rest /= sizes.width;
  const int row = rest % sizes.height;
  rest /= sizes.height;
  if (rest >= sizes.samples) return;
  const long long place = rest * sizes.sample_stride + (long long)row * sizes.row_stride +
                          (long long)column * sizes.column_stride + (long long)channel * sizes.channel_stride;
  to[index] = channel < sizes.channels ? from[place] : 0.0f;
}
#endif

// The gradient of a convolution before pooling and activation, channels in fours. A pooled result has its gradient where
// its winner was, a cut one has none.
struct CutSizes {
  int samples, height, width;  // before pooling
  int channels, padded;
  int activation;
  int pool;
};

#ifdef ONLY_cut_gradient
extern "C" __global__ void cut_gradient(const float* __restrict__ gradient, const float* __restrict__ result,
                                        const u8* __restrict__ winners, float* __restrict__ to, const CutSizes sizes) {
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const int fours = sizes.padded / 4;
  const int channel = index % fours * 4;
  long long pixel = index / fours;
  const long long place = pixel;
  int part = 0;
  if (sizes.pool) {
    const int column = pixel % sizes.width, row = pixel / sizes.width % sizes.height;
    const long long sample = pixel / sizes.width / sizes.height;
    part = (row & 1) * 2 + (column & 1);
    pixel = (sample * ((sizes.height + 1) / 2) + row / 2) * ((sizes.width + 1) / 2) + column / 2;
  }
  if (place >= (long long)sizes.samples * sizes.height * sizes.width) return;
  float values[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const long long from = pixel * sizes.channels + channel + i;
    bool passes = channel + i < sizes.channels;
    if (passes && sizes.pool) passes = winners[from] == part;
    if (passes && sizes.activation) passes = result[from] > 0.0f && (sizes.activation == 1 || result[from] < 6.0f);
    values[i] = passes ? gradient[from] : 0.0f;
  }
  *(float4*)(to + place * sizes.padded + channel) = make_float4(values[0], values[1], values[2], values[3]);
}
#endif

// Frames of bytes to numbers, channels last with a fourth that is zero.
struct FrameSizes {
  int pixels;
  float factor[3], summand[3];
};

#ifdef ONLY_frames
extern "C" __global__ void frames(const u8* __restrict__ bytes, float* __restrict__ to, const FrameSizes sizes) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= sizes.pixels) return;
  const u8* from = bytes + (long long)pixel * 3;
  ((float4*)to)[pixel] =
      make_float4(from[0] * sizes.factor[0] + sizes.summand[0], from[1] * sizes.factor[1] + sizes.summand[1],
                  from[2] * sizes.factor[2] + sizes.summand[2], 0.0f);
}
#endif

// Weights and bias of a convolution whose results are normalised by statistics that stay as they are.
struct FoldSizes {
  int count;       // weights
  int per_output;  // weights of an output
  float epsilon;
};

#ifdef ONLY_fold
extern "C" __global__ void fold(const float* __restrict__ weight, const float* __restrict__ norm_weight,
                                const float* __restrict__ norm_bias, const float* __restrict__ mean,
                                const float* __restrict__ variance, float* __restrict__ to, float* __restrict__ bias,
                                const FoldSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= sizes.count) return;
  const int output = index / sizes.per_output;
  const float factor = norm_weight[output] / sqrtf(variance[output] + sizes.epsilon);
  to[index] = weight[index] * factor;
  if (index % sizes.per_output == 0) bias[output] = norm_bias[output] - mean[output] * factor;
}
#endif

// One step of Adam. What is read and what is written may be the same memory.
struct AdamNumbers {
  float beta_1, beta_2, weight_decay, unbias, epsilon, rate;
};

struct AdamSizes {
  int count;
  AdamNumbers numbers;
};

__device__ __forceinline__ void adam_step(const float* values, const float* gradient, const float* first,
                                          const float* second, float* new_values, float* new_first, float* new_second,
                                          int index, const AdamNumbers& numbers) {
  const float value = values[index];
  const float slope = gradient[index] + value * numbers.weight_decay;
  const float mean = first[index] * numbers.beta_1 + slope * (1.0f - numbers.beta_1);
  const float square = second[index] * numbers.beta_2 + slope * slope * (1.0f - numbers.beta_2);
  new_first[index] = mean;
  new_second[index] = square;
  new_values[index] = value - mean * numbers.unbias / (sqrtf(square) + numbers.epsilon) * numbers.rate;
}

#ifdef ONLY_adam
extern "C" __global__ void adam(const float* values, const float* gradient, const float* first, const float* second,
                                float* new_values, float* new_first, float* new_second, const AdamSizes sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= sizes.count) return;
  adam_step(values, gradient, first, second, new_values, new_first, new_second, index, sizes.numbers);
}
#endif

// The same with numbers from memory: a launch that is recorded has the arguments that it was recorded with.
struct CountOnly {
  int count;
};

#ifdef ONLY_recorded_adam
extern "C" __global__ void recorded_adam(const float* values, const float* gradient, const float* first,
                                         const float* second, const AdamNumbers* numbers, float* new_values,
                                         float* new_first, float* new_second, const CountOnly sizes) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= sizes.count) return;
  adam_step(values, gradient, first, second, new_values, new_first, new_second, index, *numbers);
}
#endif
