// What kernels share: activations, asynchronous copies into shared memory and products of tiles on tensor cores. No header
// of CUDA is included, so that a machine with only a driver and NVRTC can compile this.

typedef unsigned int u32;
typedef unsigned char u8;

// 0 nothing, 1 ReLU, 2 ReLU up to 6; written so that what is no number stays none.
__device__ __forceinline__ float activated(float value, int activation) {
  if (activation != 0 && value < 0.0f) value = 0.0f;
  if (activation == 2 && value > 6.0f) value = 6.0f;
  return value;
}

__device__ __forceinline__ u32 shared_address(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }

// Copies 16 bytes, or writes zeros where `inside` is false.
__device__ __forceinline__ void copy16(void* to, const void* from, bool inside) {
  int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(from), "r"(bytes));
}

__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;\n" ::); }

// Waits until at most `LATER` of the closed groups are still under way.
template <int LATER>
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(LATER));
}

// Rounds to the 10 bits of mantissa that tensor cores read; they would cut off the rest, which has a bias.
__device__ __forceinline__ u32 rounded(u32 bits) {
  u32 result;
  asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(result) : "f"(__uint_as_float(bits)));
  return result;
}

// Four blocks of 8 rows of 16 bytes: of each, a thread gets the word `lane % 4` of the row `lane / 4`.
__device__ __forceinline__ void load_blocks(u32 (&to)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

// sum += a (16 x 8) b (8 x 8).
__device__ __forceinline__ void multiply(float (&sum)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(AS_OTHERS)
// Hopper multiplies for four warps at a time: each warp brings its 16 rows of A in registers, laid out as for `multiply`, and
// all read B from shared memory by themselves. Sums lie as those of `multiply`, eight columns after eight.
#define WARP_GROUPS 1

// B as the hardware is told of it: rows of 64 bytes whose fours are exchanged as `copy` does it, eight rows a block.
__device__ __forceinline__ unsigned long long described(const float* tile) {
  const unsigned long long address = (shared_address(tile) & 0x3ffff) >> 4;
  return address | 1ull << 16 | 32ull << 32 | 2ull << 62;
}

// What was copied to shared memory is seen by products that read it there.
__device__ __forceinline__ void show_copies() { asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory"); }
__device__ __forceinline__ void open_products() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void close_products() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
__device__ __forceinline__ void await_products() { asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory"); }

#define SUMS(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define SUMS_4(i) SUMS(i), SUMS(i + 1), SUMS(i + 2), SUMS(i + 3)
#define PRODUCT(columns, list, a, b, ...)                                                       \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\nwgmma.mma_async.sync.aligned.m64n" columns \
               "k8.f32.tf32.tf32 {" list "}, " a ", " b ", adds, 1, 1;\n}\n"                   \
               : __VA_ARGS__                                                                       \
               : "r"(a_rows[0]), "r"(a_rows[1]), "r"(a_rows[2]), "r"(a_rows[3]), "l"(b_tile))

// sums += a (64 x 8, 16 rows a warp) b (8 x columns).
__device__ __forceinline__ void multiply_group(float (&sums)[2][4], const u32 (&a_rows)[4], unsigned long long b_tile) {
  PRODUCT("16", "%0,%1,%2,%3,%4,%5,%6,%7", "{%8,%9,%10,%11}", "%12", SUMS(0), SUMS(1));
}
__device__ __forceinline__ void multiply_group(float (&sums)[4][4], const u32 (&a_rows)[4], unsigned long long b_tile) {
  PRODUCT("32",
          "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15",
          "{%16,%17,%18,%19}", "%20", SUMS_4(0));
}
__device__ __forceinline__ void multiply_group(float (&sums)[8][4], const u32 (&a_rows)[4], unsigned long long b_tile) {
  PRODUCT("64",
          "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
          "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31",
          "{%32,%33,%34,%35}", "%36", SUMS_4(0), SUMS_4(4));
}
__device__ __forceinline__ void multiply_group(float (&sums)[16][4], const u32 (&a_rows)[4], unsigned long long b_tile) {
  PRODUCT("128",
          "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
          "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
          "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
          "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63",
          "{%64,%65,%66,%67}", "%68", SUMS_4(0), SUMS_4(4), SUMS_4(8), SUMS_4(12));
}

// Keeps what reads sums behind the wait for them.
template <int COUNT>
__device__ __forceinline__ void settle(float (&sums)[COUNT][4]) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) asm volatile("" : SUMS(i)::"memory");
}
#else
#define WARP_GROUPS 0
#endif

// Adds a number of each of `parts` parts that lie `pitch` floats apart, for 32 numbers a block of 256 threads: eight
// threads share the parts of a number, always the same ones. The sum arrives at the first of them, which gets true.
__device__ __forceinline__ bool sum_parts(const float* from, int parts, long long pitch, bool exists, float& sum) {
  __shared__ float held[8][32];
  const int lane = threadIdx.x % 32, depth = threadIdx.x / 32;
  sum = 0.0f;
  if (exists) {
#pragma unroll 8
    for (int part = depth; part < parts; part += 8) sum += from[part * pitch];
  }
  held[depth][lane] = sum;
  __syncthreads();
  if (depth > 0 || !exists) return false;
  sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += held[i][lane];
  return true;
}
