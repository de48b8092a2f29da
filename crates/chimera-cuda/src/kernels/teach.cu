// What surrounds the products of a step: inputs, the truth head with its loss, and the parameters that are vectors.

typedef unsigned long long u64;
typedef unsigned u32;

struct Effects {
    const float* added;
    const float* spread;
    // The mean of a sample with such labels over the spread.
    const float* means;
    const float* table;
    int width, rectified;
};

struct Grafted {
    u64 seed;
    const u32* bases;
    const int* changes;
    float* out;
    int most_changes;
};

__device__ u64 mixed(u64 x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Means of what concepts add, over the spread: a block a sample.
extern "C" __global__ void means(const float* base, const float* added, const float* shares, const float* spread,
                                 const u64* value, const u64* known, int words, int concepts, int width, float* out) {
    u32 row = blockIdx.x;
    for (int at = threadIdx.x; at < width; at += blockDim.x) {
        float mean = base[at];
        for (int concept = 0; concept < concepts; concept++) {
            const u64* column = value + (long)concept * words;
            bool is_known = !known || known[(long)concept * words + (row >> 6)] >> (row & 63) & 1;
            float weight = !is_known ? shares[concept] : column[row >> 6] >> (row & 63) & 1 ? 1.0f : 0.0f;
            if (weight != 0.0f) mean += weight * added[(long)concept * width + at];
        }
        out[(long)row * width + at] = spread[at] > 0.0f ? mean / spread[at] : 0.0f;
    }
}

#define REACH 4.0f
#define MEANS 65
#define QUANTILES 256

// z of grafts; x: slots of a step, y: gates. `slot` counts from the first of a bundle of steps.
extern "C" __global__ void grafts(const Grafted* tasks, const float* z, Effects effects, int first, u64 step, int slots) {
    const Grafted task = tasks[blockIdx.y];
    int slot = first + blockIdx.x;
    const int* list = task.changes + (long)slot * (task.most_changes + 1);
    u32 row = task.bases[slot];
    float* out = task.out + (long)blockIdx.x * effects.width;
    int count = list[0];
    for (int at = threadIdx.x; at < effects.width; at += blockDim.x) {
        float added = 0.0f;
        for (int number = 1; number <= count; number++) {
            float effect = effects.added[(long)(list[number] >> 1) * effects.width + at];
            added += list[number] & 1 ? effect : -effect;
        }
        float x = z[(long)row * effects.width + at];
        if (effects.rectified) {
            // What went into the ReLU is not known where nothing came out: it is drawn.
            if (!(x > 0.0f)) {
                u32 byte = (u32)(mixed(task.seed ^ mixed(step * 0x9e3779b97f4a7c15ull + ((u64)blockIdx.x << 20) + at)) >> 56);
                float mean = effects.means[(long)row * effects.width + at];
                int place = (int)rintf((fminf(fmaxf(mean, -REACH), REACH) + REACH) * ((MEANS - 1) / (2.0f * REACH)));
                x = effects.spread[at] * effects.table[place * QUANTILES + byte];
            }
            out[at] = fmaxf(x + added, 0.0f);
        } else {
            out[at] = x + added;
        }
    }
}

// An operand: where its samples are listed, what is made of z, and where it goes.
struct Leaf {
    // Nothing where numbers are taken from `beside` in their order.
    const u32* rows;
    // z of grafts of its gate, or what a gate gave.
    const float* beside;
    const float* shift;
    const float* scale;
    float* out;
    int stride;
};

// x: slots, four numbers of z a thread; y: operands. Grafts are the slots from `graft_first` to `graft_end`.
extern "C" __global__ void fill(const Leaf* leaves, const float* z, int width, int slots, long first, int graft_first,
                                int graft_end) {
    const Leaf leaf = leaves[blockIdx.y];
    int quads = width / 4;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < slots * quads; index += gridDim.x * blockDim.x) {
        int slot = index / quads, at = 4 * (index % quads);
        bool is_graft = slot >= graft_first && slot < graft_end;
        const float* from = !leaf.rows ? leaf.beside + (long)slot * width
                            : is_graft ? leaf.beside + (long)(slot - graft_first) * width
                                       : z + (long)leaf.rows[first + slot] * width;
        float4 x = *(const float4*)(from + at);
        if (leaf.shift) {
            float4 shift = *(const float4*)(leaf.shift + at), scale = *(const float4*)(leaf.scale + at);
            x = make_float4((x.x - shift.x) * scale.x, (x.y - shift.y) * scale.y, (x.z - shift.z) * scale.z,
                            (x.w - shift.w) * scale.w);
        }
        *(float4*)(leaf.out + (long)slot * leaf.stride + at) = x;
    }
}

struct Head {
    const float* feature;
    const float* head;
    const float* offset;
    float* gradient;
};

// The truth head, its loss and the gradient of its input; a warp a slot, y: gates. Also decides this step of Adam.
extern "C" __global__ void __launch_bounds__(256) heads(const Head* tasks, const unsigned char* targets, long target_stride,
                                                        long target_first, int slots, int width, float* slopes,
                                                        float* losses, int* counts, float* steps, float rate, float beta_1,
                                                        float beta_2, float epsilon) {
    const Head task = tasks[blockIdx.y];
    const unsigned char* target = targets + blockIdx.y * target_stride + target_first;
    __shared__ int shared[8];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, known = 0;
    for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) known += target[slot] < 2;
    for (int by = 16; by; by /= 2) known += __shfl_xor_sync(~0u, known, by);
    if (lane == 0) shared[warp] = known;
    __syncthreads();
    known = 0;
    for (int other = 0; other < 8; other++) known += shared[other];
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float* step = steps + 3 * blockIdx.y;
        step[2] = known > 0;
        if (known > 0) {
            int number = counts[blockIdx.y] + 1;
            counts[blockIdx.y] = number;
            double second = sqrt(1.0 - pow((double)beta_2, (double)number));
            step[0] = (float)(rate * second / (1.0 - pow((double)beta_1, (double)number)));
            step[1] = (float)(epsilon * second);
        }
    }
    int slot = blockIdx.x * 8 + warp;
    if (slot >= slots) return;
    const float* feature = task.feature + (long)slot * width;
    float logit = 0.0f;
    for (int at = lane; at < width; at += 32) logit += feature[at] * task.head[at];
    for (int by = 16; by; by /= 2) logit += __shfl_xor_sync(~0u, logit, by);
    logit += *task.offset;
    float slope = 0.0f, loss = 0.0f;
    if (target[slot] < 2) {
        float wanted = target[slot];
        float small = expf(-fabsf(logit));
        loss = fmaxf(logit, 0.0f) - logit * wanted + log1pf(small);
        float probability = logit >= 0.0f ? 1.0f / (1.0f + small) : small / (1.0f + small);
        slope = (probability - wanted) / known;
    }
    if (lane == 0) {
        slopes[(long)blockIdx.y * slots + slot] = slope;
        losses[(long)blockIdx.y * slots + slot] = loss;
    }
    float* gradient = task.gradient + (long)slot * width;
    for (int at = lane; at < width; at += 32) gradient[at] = feature[at] > 0.0f ? slope * task.head[at] : 0.0f;
}

// The logits of gates; a warp a row, y: gates.
extern "C" __global__ void __launch_bounds__(256) logits(const Head* tasks, int rows, int width, int gates, float* out) {
    const Head task = tasks[blockIdx.y];
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* feature = task.feature + (long)row * width;
    float logit = 0.0f;
    for (int at = lane; at < width; at += 32) logit += feature[at] * task.head[at];
    for (int by = 16; by; by /= 2) logit += __shfl_xor_sync(~0u, logit, by);
    if (lane == 0) out[(long)row * gates + blockIdx.y] = logit + *task.offset;
}

// The parameters that are vectors. Adam's two means lie `apart` and twice as far behind each.
struct Vectors {
    const float* hidden_gradient;
    const float* feature_gradient;
    const float* feature;
    float* first_bias;
    float* marks;
    float* second_bias;
    float* head;
    float* offset;
    // Of the first layer with marks: what is added to its results.
    float* added;
    // A bit for each operand whose edge negates.
    u64 negated[4];
    int arity;
};

__device__ float adam(float* parameter, long apart, int at, float gradient, const float* step, float beta_1, float beta_2,
                      float weight_decay) {
    float value = parameter[at], first = parameter[apart + at], second = parameter[2 * apart + at];
    gradient += value * weight_decay;
    first = first * beta_1 + gradient * (1.0f - beta_1);
    second = second * beta_2 + gradient * gradient * (1.0f - beta_2);
    value -= first / (sqrtf(second) + step[1]) * step[0];
    parameter[at] = value;
    parameter[apart + at] = first;
    parameter[2 * apart + at] = second;
    return value;
}

// x: 32 columns a block; y: gates. Eight warps add up the slots between them.
extern "C" __global__ void __launch_bounds__(256) vectors(const Vectors* tasks, const float* slopes, const float* losses,
                                                          const float* steps, const unsigned char* targets,
                                                          long target_stride, long target_first, int slots, int hidden,
                                                          int width, long apart, double* totals, float beta_1,
                                                          float beta_2, float weight_decay) {
    const Vectors task = tasks[blockIdx.y];
    const float* step = steps + 3 * blockIdx.y;
    if (step[2] == 0.0f) return;
    const float* slope = slopes + (long)blockIdx.y * slots;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = blockIdx.x * 32 + lane;
    __shared__ float sums[3][8][32];
    float first = 0.0f, second = 0.0f, head = 0.0f;
    // Several rows are on their way at a time.
#pragma unroll 8
    for (int slot = warp; slot < slots; slot += 8) {
        if (column < hidden) first += task.hidden_gradient[(long)slot * hidden + column];
        if (column < width) {
            second += task.feature_gradient[(long)slot * width + column];
            head += slope[slot] * task.feature[(long)slot * width + column];
        }
    }
    sums[0][warp][lane] = first;
    sums[1][warp][lane] = second;
    sums[2][warp][lane] = head;
    __syncthreads();
    if (warp < 3) {
        float sum = 0.0f;
        for (int other = 0; other < 8; other++) sum += sums[warp][other][lane];
        if (warp == 0 && column < hidden) {
            float added = adam(task.first_bias, apart, column, sum, step, beta_1, beta_2, weight_decay);
            for (int operand = 0; operand < task.arity; operand++) {
                float mark = task.negated[operand >> 6] >> (operand & 63) & 1 ? 1.0f : 0.0f;
                float weight = adam(task.marks + (long)operand * hidden, apart, column, mark * sum, step, beta_1, beta_2,
                                    weight_decay);
                added += mark * weight;
            }
            task.added[column] = added;
        }
        if (warp == 1 && column < width) adam(task.second_bias, apart, column, sum, step, beta_1, beta_2, weight_decay);
        if (warp == 2 && column < width) adam(task.head, apart, column, sum, step, beta_1, beta_2, weight_decay);
    } else if (warp == 3 && blockIdx.x == 0) {
        const unsigned char* target = targets + blockIdx.y * target_stride + target_first;
        float total = 0.0f;
        double loss = 0.0, known = 0.0;
        for (int slot = lane; slot < slots; slot += 32) {
            total += slope[slot];
            loss += losses[(long)blockIdx.y * slots + slot];
            known += target[slot] < 2;
        }
        for (int by = 16; by; by /= 2) {
            total += __shfl_xor_sync(~0u, total, by);
            loss += __shfl_xor_sync(~0u, loss, by);
            known += __shfl_xor_sync(~0u, known, by);
        }
        if (lane == 0) {
            adam(task.offset, apart, 0, total, step, beta_1, beta_2, weight_decay);
            totals[2 * blockIdx.y] += loss;
            totals[2 * blockIdx.y + 1] += known;
        }
    }
}
