// Products of many small matrices in one launch, on tensor cores: each problem has sizes and places of its own, and what
// follows the product happens at once: bias and ReLU or a mask while its numbers are in registers, a step of Adam in shared
// memory.
//
// Compiled once for each size of tile: BM x BN results a block, WM x WN a warp, BK deep. With PRECISE each number is split in
// two and three products are added: as exact as 32-bit floats. Without it, numbers are rounded to TF32.
//
// Rows and columns are multiples of 4 and lie at multiples of 16 bytes; depths are multiples of BK.

#define THREADS (32 * (BM / WM) * (BN / WN))
#define STAGES 4
#define MT (WM / 16)
#define NT (WN / 8)

struct Product {
    const float* a;
    const float* b;
    float* c;
    // Of a column with bias and ReLU; of every result with a mask.
    const float* beside;
    // Adam's two means, and its step: rate, epsilon, whether there is one.
    float* first;
    float* second;
    const float* step;
    int m, n, k, lda, ldb, ldc;
};

struct Decay {
    float beta_1, beta_2, weight_decay;
};

__device__ __forceinline__ unsigned rounded(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 16 bytes to shared memory without waiting; zeros where nothing is there.
__device__ __forceinline__ void fetch(float* to, const float* from, bool there) {
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(there ? 16 : 0));
}

// A tile of ROWS x BK. Where the depth is contiguous, rows are BK + 4 apart, else columns are ROWS + 8 apart: either way the
// 32 numbers that a warp reads at once lie in 32 banks.
template <int ROWS, bool DEEP>
struct Tile {
    static const int STRIDE = DEEP ? BK + 4 : ROWS + 8;
    static const int SIZE = DEEP ? ROWS * STRIDE : BK * STRIDE;
    __device__ static int at(int row, int depth) { return DEEP ? row * STRIDE + depth : depth * STRIDE + row; }
    __device__ static void load(float* tile, const float* from, int ld, int row, int rows, int depth) {
        const int ACROSS = DEEP ? BK / 4 : ROWS / 4;
        const int PIECES = ROWS * BK / 4;
#pragma unroll
        for (int piece = threadIdx.x; piece < PIECES; piece += THREADS) {
            int line = piece / ACROSS, place = 4 * (piece % ACROSS);
            int r = DEEP ? line : place, d = DEEP ? place : line;
            bool there = row + r < rows;
            long offset = DEEP ? (long)(row + r) * ld + depth + d : (long)(depth + d) * ld + row + r;
            fetch(tile + at(r, d), from + (there ? offset : 0), there);
        }
    }
};

enum { BIAS_RELU, MASK, ADAM };

// What is no number stays none, so that a gate that diverged is told from one that is zero.
__device__ __forceinline__ float relu(float x) { return x < 0.0f ? 0.0f : x; }

__device__ __forceinline__ void adam(float& value, float& first, float& second, float gradient, float rate, float epsilon,
                                     const Decay& decay) {
    gradient += value * decay.weight_decay;
    first = first * decay.beta_1 + gradient * (1.0f - decay.beta_1);
    second = second * decay.beta_2 + gradient * gradient * (1.0f - decay.beta_2);
    value -= first / (sqrtf(second) + epsilon) * rate;
}

// Results of a tile in shared memory, in place of what was multiplied: rows are BN + 8 apart, so that what half a warp writes at
// once lies in 32 banks. That takes no more room than the stages of `learn` do.
#define STAGED (BN + 8)
// Pieces of four numbers that a thread reads before it writes the first.
#define AT_ONCE 2

// A step of Adam over a tile whose gradient lies in shared memory: 16 bytes a thread, one thread beside the other.
__device__ __forceinline__ void learn_tile(const Product& p, const Decay& decay, const float* staged, int m0, int n0) {
    const int ACROSS = BN / 4, PIECES = BM * BN / 4;
    static_assert(PIECES % (AT_ONCE * THREADS) == 0, "threads share a tile evenly");
    const float rate = p.step[0], epsilon = p.step[1];
#pragma unroll 1
    for (int start = threadIdx.x; start < PIECES; start += AT_ONCE * THREADS) {
        float4 value[AT_ONCE], first[AT_ONCE], second[AT_ONCE];
        long place[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            int piece = start + i * THREADS, row = m0 + piece / ACROSS, column = n0 + 4 * (piece % ACROSS);
            place[i] = row < p.m && column < p.n ? (long)row * p.ldc + column : -1;
            if (place[i] < 0) continue;
            value[i] = *(const float4*)(p.c + place[i]);
            first[i] = *(const float4*)(p.first + place[i]);
            second[i] = *(const float4*)(p.second + place[i]);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (place[i] < 0) continue;
            int piece = start + i * THREADS;
            float4 gradient = *(const float4*)(staged + piece / ACROSS * STAGED + 4 * (piece % ACROSS));
            adam(value[i].x, first[i].x, second[i].x, gradient.x, rate, epsilon, decay);
            adam(value[i].y, first[i].y, second[i].y, gradient.y, rate, epsilon, decay);
            adam(value[i].z, first[i].z, second[i].z, gradient.z, rate, epsilon, decay);
            adam(value[i].w, first[i].w, second[i].w, gradient.w, rate, epsilon, decay);
            *(float4*)(p.c + place[i]) = value[i];
            *(float4*)(p.first + place[i]) = first[i];
            *(float4*)(p.second + place[i]) = second[i];
        }
    }
}

template <bool A_DEEP, bool B_DEEP, int THEN>
__device__ void product(const Product* problems, Decay decay) {
    const Product p = problems[blockIdx.y];
    typedef Tile<BM, A_DEEP> A;
    typedef Tile<BN, B_DEEP> B;
    int across = (p.n + BN - 1) / BN;
    if ((int)blockIdx.x >= across * ((p.m + BM - 1) / BM)) return;
    if (THEN == ADAM && p.step[2] == 0.0f) return;
    const int m0 = blockIdx.x / across * BM, n0 = blockIdx.x % across * BN;
    extern __shared__ __align__(16) float room[];
    float* as = room;
    float* bs = room + STAGES * A::SIZE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;
    float sums[MT][NT][4] = {};
    const int steps = p.k / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            A::load(as + s * A::SIZE, p.a, p.lda, m0, p.m, s * BK);
            B::load(bs + s * B::SIZE, p.b, p.ldb, n0, p.n, s * BK);
        }
        asm volatile("cp.async.commit_group;");
    }
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        int next = step + STAGES - 1;
        if (next < steps) {
            A::load(as + next % STAGES * A::SIZE, p.a, p.lda, m0, p.m, next * BK);
            B::load(bs + next % STAGES * B::SIZE, p.b, p.ldb, n0, p.n, next * BK);
        }
        asm volatile("cp.async.commit_group;");
        const float* at = as + step % STAGES * A::SIZE;
        const float* bt = bs + step % STAGES * B::SIZE;
#pragma unroll
        for (int k = 0; k < BK; k += 8) {
            unsigned a[MT][4], b[NT][2];
#if PRECISE
            unsigned a_rest[MT][4], b_rest[NT][2];
#endif
#pragma unroll
            for (int i = 0; i < MT; i++) {
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    float x = at[A::at(wm + 16 * i + g + 8 * (q & 1), k + t + 4 * (q >> 1))];
                    a[i][q] = rounded(x);
#if PRECISE
                    a_rest[i][q] = rounded(x - __uint_as_float(a[i][q]));
#endif
                }
            }
#pragma unroll
            for (int j = 0; j < NT; j++) {
#pragma unroll
                for (int q = 0; q < 2; q++) {
                    float x = bt[B::at(wn + 8 * j + g, k + t + 4 * q)];
                    b[j][q] = rounded(x);
#if PRECISE
                    b_rest[j][q] = rounded(x - __uint_as_float(b[j][q]));
#endif
                }
            }
#pragma unroll
            for (int i = 0; i < MT; i++) {
#pragma unroll
                for (int j = 0; j < NT; j++) {
#if PRECISE
                    multiply(sums[i][j], a_rest[i], b[j]);
                    multiply(sums[i][j], a[i], b_rest[j]);
#endif
                    multiply(sums[i][j], a[i], b[j]);
                }
            }
        }
    }
    if (THEN == ADAM) {
        // Nothing is on its way to shared memory any more, and nobody reads what was multiplied.
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
#pragma unroll
        for (int i = 0; i < MT; i++) {
#pragma unroll
            for (int j = 0; j < NT; j++) {
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    int row = wm + 16 * i + g + 8 * half, column = wn + 8 * j + 2 * t;
                    *(float2*)(room + row * STAGED + column) = make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
            }
        }
        __syncthreads();
        learn_tile(p, decay, room, m0, n0);
        return;
    }
#pragma unroll
    for (int i = 0; i < MT; i++) {
#pragma unroll
        for (int j = 0; j < NT; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int row = m0 + wm + 16 * i + g + 8 * half, column = n0 + wn + 8 * j + 2 * t;
                if (row >= p.m || column >= p.n) continue;
                float x = sums[i][j][2 * half], y = sums[i][j][2 * half + 1];
                long place = (long)row * p.ldc + column;
                if (THEN == BIAS_RELU) {
                    float2 bias = *(const float2*)(p.beside + column);
                    *(float2*)(p.c + place) = make_float2(relu(x + bias.x), relu(y + bias.y));
                } else {
                    float2 mask = *(const float2*)(p.beside + place);
                    *(float2*)(p.c + place) = make_float2(mask.x > 0.0f ? x : 0.0f, mask.y > 0.0f ? y : 0.0f);
                }
            }
        }
    }
}

// c[m][n] = relu(a[m][k] b[n][k] + bias[n])
extern "C" __global__ void __launch_bounds__(THREADS) forward(const Product* problems, Decay decay) {
    product<true, true, BIAS_RELU>(problems, decay);
}

// c[m][n] = a[m][k] b[k][n] where beside[m][n] is above zero
extern "C" __global__ void __launch_bounds__(THREADS) backward(const Product* problems, Decay decay) {
    product<true, false, MASK>(problems, decay);
}

// c[m][n] goes a step of Adam against the gradient a[k][m] b[k][n]. While some blocks multiply, others wait for memory: in TF32
// as many as shared memory has room for.
extern "C" __global__ void __launch_bounds__(THREADS, BM > 64 ? 1 : PRECISE ? 4 : 6) learn(const Product* problems, Decay decay) {
    product<false, false, ADAM>(problems, decay);
}
