// What the matrix kernels share: asynchronous copies into shared memory and products of tiles on tensor cores. No header
// of CUDA is included, so that a machine with only a driver and NVRTC can compile this.

typedef unsigned int u32;
typedef unsigned char u8;

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
