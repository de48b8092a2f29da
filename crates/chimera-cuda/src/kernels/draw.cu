// Chimeras, samples and grafts for many gates and many steps in one launch, a thread each: which samples, and the exact truth.
// The rules of drawing are those of `chimera_gate::draw` and `chimera_gate::graft`; only the random numbers are others.

typedef unsigned long long u64;
typedef unsigned u32;

#define MOST_PIECES 512
#define UNKNOWN 2

// The truth of a node on every sample; `known` is empty where all of it is known.
struct Truth {
    const u64* value;
    const u64* known;
    const u32* rows[2];
    u32 count[2];
};

// A piece of a drawing, parents before their operands. A sample has no operator.
struct Piece {
    int op, first, count, can, part, truth;
};

enum { SAMPLE, AND, OR, IMPLIES, IFF };

// The pieces of one drawing; operands are places among pieces, times two, and one more where the edge negates.
struct Drawing {
    const Piece* pieces;
    const int* operands;
    // From which spot on a part is taken, and up to which.
    const int* spots;
    int count, parts;
};

struct Task {
    u64 seed;
    Drawing chimeras, same, tree;
    // Samples in the order of which batches are cut: all, or those that are kept.
    const u32* kept;
    // Whether a sample may be taken as it is; nothing where all may.
    const u64* may;
    // Concepts below the node, and configurations of them that make it false, and true.
    const int* concepts;
    const u32* listed[2];
    int listed_count[2];
    float redrawn;
    int concept_count, order, arity;
    // How often each configuration of operands was shown; nothing where there are too many.
    u64* shown;
    // Results: a row for each spot and slot, and for grafts a list of changed concepts a slot.
    u32* rows;
    int* changes;
    int most_changes;
    u32* bases;
};

struct Ground {
    const Truth* truths;
    const u32* groups;
    // Labels by concept: value and known, a bit a sample.
    const u64* value;
    const u64* known;
    int rows, words, concepts;
};

// What a batch is made of: so many slots for each kind, one kind after the other; zero where there is none.
struct Layout {
    int batch, same, grafts, chimeras, slots, shift;
};

struct Random {
    u64 state;
    __device__ u64 next() {
        state += 0x9e3779b97f4a7c15ull;
        u64 x = state;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return x ^ (x >> 31);
    }
    __device__ u32 below(u32 limit) { return (u32)(((next() >> 32) * limit) >> 32); }
    __device__ bool coin() { return next() >> 63; }
    __device__ float share() { return (float)(next() >> 40) * (1.0f / 16777216.0f); }
};

__device__ Random seeded(u64 seed, u64 purpose, u64 number) {
    Random random = {seed ^ (purpose * 0xd1342543de82ef95ull)};
    random.state = random.next() ^ number;
    random.state = random.next();
    return random;
}

__device__ bool bit(const u64* words, u32 row) { return words[row >> 6] >> (row & 63) & 1; }

__device__ int truth_of(const Truth& truth, u32 row) {
    if (truth.known && !bit(truth.known, row)) return UNKNOWN;
    return bit(truth.value, row);
}

// The sample at a place of a random order of `count`: a permutation of the numbers below the next power of four, repeated
// until the result is below `count`.
__device__ u32 shuffled(u32 place, u32 count, u64 key) {
    int half = (33 - __clz(count - 1 | 1)) / 2;
    u32 mask = (1u << half) - 1;
    do {
        u32 left = place >> half, right = place & mask;
        for (int round = 0; round < 4; round++) {
            u64 x = (key + round * 0x9e3779b97f4a7c15ull) ^ right;
            x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
            x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
            u32 mixed = (left ^ (u32)(x >> 32)) & mask;
            left = right;
            right = mixed;
        }
        place = left << half | right;
    } while (place >= count);
    return place;
}

__device__ bool differ(const Ground& ground, u32 one, u32 other) {
    return one != other && (!ground.groups || ground.groups[one] != ground.groups[other]);
}

struct Bits {
    u32 words[MOST_PIECES / 32];
    __device__ bool get(int at) const { return words[at >> 5] >> (at & 31) & 1; }
    __device__ void set(int at, bool value) {
        u32 mask = 1u << (at & 31);
        words[at >> 5] = value ? words[at >> 5] | mask : words[at >> 5] & ~mask;
    }
};

// Three-valued logic over operands that are counted.
__device__ int kleene(int op, int trues, int falses, int count, int first, int last) {
    switch (op) {
        case AND: return falses ? 0 : trues == count ? 1 : UNKNOWN;
        case OR: return trues ? 1 : falses == count ? 0 : UNKNOWN;
        case IMPLIES: return first == 0 || last == 1 ? 1 : first == 1 && last == 0 ? 0 : UNKNOWN;
        default: return trues && falses ? 0 : trues == count || falses == count ? 1 : UNKNOWN;
    }
}

// The truth of a drawing, given that of its samples; operands that the root sees are packed into `seen`, first operand slowest,
// or -1 where one is unknown.
template <typename OfSample>
__device__ int evaluate(const Drawing& drawing, OfSample of_sample, int* seen) {
    Bits value, known;
    int result = UNKNOWN;
    for (int at = drawing.count - 1; at >= 0; at--) {
        Piece piece = drawing.pieces[at];
        int truth;
        if (piece.op == SAMPLE) {
            truth = of_sample(piece);
        } else {
            int trues = 0, falses = 0, first = UNKNOWN, last = UNKNOWN, packed = 0;
            for (int number = 0; number < piece.count; number++) {
                int operand = drawing.operands[piece.first + number], place = operand >> 1;
                last = known.get(place) ? value.get(place) ^ (operand & 1) : UNKNOWN;
                if (number == 0) first = last;
                trues += last == 1;
                falses += last == 0;
                packed = last == UNKNOWN || packed < 0 ? -1 : packed << 1 | last;
            }
            truth = kleene(piece.op, trues, falses, piece.count, first, last);
            if (at == 0) *seen = packed;
        }
        known.set(at, truth != UNKNOWN);
        value.set(at, truth == 1);
        result = truth;
    }
    return result;
}

// What an operand can be, as a gate sees it: bit 0 false, bit 1 true.
__device__ int can_be(const Drawing& drawing, int operand) {
    int can = drawing.pieces[operand >> 1].can;
    return operand & 1 ? can >> 1 | (can & 1) << 1 : can;
}

// Values of operands that give a gate its value; false where there are none.
__device__ bool choose(const Drawing& drawing, const Piece& piece, bool wanted, Bits& values, Random& random) {
    const int* operands = drawing.operands + piece.first;
    int count = piece.count;
    if (piece.op == IMPLIES) {
        int options[4], found = 0;
        int antecedent = can_be(drawing, operands[0]), consequent = can_be(drawing, operands[1]);
        for (int pair = 0; pair < 4; pair++) {
            int first = pair >> 1, second = pair & 1;
            bool holds = !first || second;
            if ((antecedent >> first & 1) && (consequent >> second & 1) && holds == wanted) options[found++] = pair;
        }
        if (!found) return false;
        int pair = options[random.below(found)];
        values.set(operands[0] >> 1, (pair >> 1) ^ (operands[0] & 1));
        values.set(operands[1] >> 1, (pair & 1) ^ (operands[1] & 1));
        return true;
    }
    int least = 0, most = 0, free = 0;
    for (int number = 0; number < count; number++) {
        int can = can_be(drawing, operands[number]);
        least += !(can & 1);
        most += can >> 1;
        free += can == 3;
    }
    int low = least, high = most;
    if (piece.op == AND) {
        if (wanted) low = max(low, count); else high = min(high, count - 1);
    } else if (piece.op == OR) {
        if (wanted) low = max(low, 1); else high = min(high, 0);
    } else if (wanted) {
        bool none = least == 0, all = most == count;
        if (!none && !all) return false;
        low = high = none && all ? (random.coin() ? 0 : count) : none ? 0 : count;
    } else {
        low = max(low, 1);
        high = min(high, count - 1);
    }
    if (low > high) return false;
    // Half of the time a number that a single operand would turn over.
    int trues;
    bool has_close = piece.op == AND ? !wanted : piece.op == OR ? wanted : !wanted;
    int close = piece.op == AND ? high : piece.op == OR ? low : has_close && random.coin() ? low : high;
    if (has_close && random.coin()) trues = close;
    else trues = low + random.below(high - low + 1);
    int needed = trues - least;
    for (int number = 0; number < count; number++) {
        int operand = operands[number], can = can_be(drawing, operand);
        bool value = !(can & 1);
        if (can == 3) {
            value = (int)random.below(free) < needed;
            needed -= value;
            free--;
        }
        values.set(operand >> 1, value ^ (operand & 1));
    }
    return true;
}

// Samples with other concepts: the list of what changes. Gives the truth of the node.
__device__ int graft(const Task& task, const Ground& ground, u32 row, Random& random, int slot, int* seen) {
    const int* concepts = task.concepts;
    int* list = task.changes + (long)slot * (task.most_changes + 1);
    list[0] = 0;
    Bits own, values;
    for (int at = 0; at < task.concept_count; at++) {
        long column = (long)concepts[at] * ground.words;
        if (ground.known && !bit(ground.known + column, row)) return -1;
        own.set(at, bit(ground.value + column, row));
    }
    bool can[2] = {task.concept_count > 12 || task.listed_count[0] > 0, task.concept_count > 12 || task.listed_count[1] > 0};
    bool wanted = can[0] && can[1] ? random.coin() : can[1];
    int count = task.listed_count[wanted];
    if (count > 0) {
        // Of eight configurations one that changes little.
        u32 candidates[8];
        float weights[8], total = 0.0f;
        for (int i = 0; i < 8; i++) {
            candidates[i] = task.listed[wanted][random.below(count)];
            weights[i] = __expf(-(float)__popc(candidates[i] ^ (own.words[0] & ((1u << task.concept_count) - 1))));
            total += weights[i];
        }
        float left = random.share() * total;
        u32 chosen = candidates[0];
        for (int i = 0; i < 8; i++) {
            left -= weights[i];
            if (left <= 0.0f) {
                chosen = candidates[i];
                break;
            }
        }
        values.words[0] = chosen;
    } else {
        // The sample's own values, changed from the node down until the truth is as wanted.
        for (int at = 0; at < task.concept_count; at++) values.set(at, own.get(at));
        Bits forced, value;
        for (int at = 0; at < task.tree.count; at++) forced.set(at, at == 0);
        value.set(0, wanted);
        for (int at = 0; at < task.tree.count; at++) {
            if (!forced.get(at)) continue;
            Piece piece = task.tree.pieces[at];
            bool want = value.get(at);
            if (piece.op == SAMPLE) {
                values.set(piece.part, want);
                continue;
            }
            int one = random.below(piece.count);
            bool alike = random.coin();
            for (int number = 0; number < piece.count; number++) {
                int operand = task.tree.operands[piece.first + number];
                bool v = want, change = true;
                if (piece.op == AND || piece.op == OR) {
                    change = (piece.op == AND) == want || number == one;
                } else if (piece.op == IMPLIES) {
                    v = want ? one == 1 : number == 0;
                    change = !want || number == one;
                } else {
                    v = want || number != one ? alike : !alike;
                }
                forced.set(operand >> 1, change);
                if (change) value.set(operand >> 1, v ^ (operand & 1));
            }
        }
    }
    int changed = 0;
    for (int at = 0; at < task.concept_count; at++) {
        if (values.get(at) != own.get(at)) list[1 + changed++] = concepts[at] << 1 | values.get(at);
    }
    if (task.redrawn > 0.0f) {
        for (int concept = 0; concept < ground.concepts; concept++) {
            if (random.share() >= task.redrawn) continue;
            bool of_node = false;
            for (int at = 0; at < task.concept_count; at++) of_node |= concepts[at] == concept;
            long column = (long)concept * ground.words;
            bool value = random.coin();
            if (of_node || value == bit(ground.value + column, row)) continue;
            if (ground.known && !bit(ground.known + column, row)) continue;
            if (changed < task.most_changes) list[1 + changed++] = concept << 1 | value;
        }
    }
    list[0] = changed;
    return evaluate(task.tree, [&](const Piece& piece) { return (int)values.get(piece.part); }, seen);
}

// One slot of one step: fills rows and gives the truth, or -1 where nothing could be made.
__device__ int draw_one(const Task& task, const Ground& ground, const Layout& layout, int place, int length, int position,
                        u64 order, Random random, u64 batch, u32* rows, int slot, int* seen) {
    auto at = [&](int position) {
        u32 row = shuffled(position, task.order, order);
        return task.kept ? task.kept[row] : row;
    };
    if (place < layout.same) {
        u32 row = at(position);
        if (task.may && !bit(task.may, row)) return -2;
        rows[0] = row;
        return evaluate(task.same, [&](const Piece& piece) { return truth_of(ground.truths[piece.truth], row); }, seen);
    }
    if (place < layout.same + layout.grafts) {
        u32 row = at(position);
        task.bases[slot] = row;
        rows[0] = 0;
        return graft(task, ground, row, random, slot, seen);
    }
    const Drawing& drawing = task.chimeras;
    bool counts = true;
    if (layout.shift) {
        if (length < drawing.parts) return -2;
        // Every thread of a batch draws the same shifts, one for each part.
        Random shifts = seeded(task.seed, 5, batch);
        for (int part = 0; part < drawing.parts; part++) {
            u32 shift = 0;
            if (part > 0) {
                for (bool taken = true; taken;) {
                    shift = 1 + shifts.below(length - 1);
                    taken = false;
                    for (int other = 1; other < part; other++) taken |= rows[other * 2 + 1] == shift;
                }
            }
            int first = place - layout.same - layout.grafts;
            rows[part * 2] = at(position - first + (first + shift) % length);
            rows[part * 2 + 1] = shift;
            for (int other = 0; other < part; other++) counts &= differ(ground, rows[part * 2], rows[other * 2]);
        }
    } else {
        bool made = false;
        for (int tries = 0; tries < 8 && !made; tries++) {
            Bits wanted;
            int can = drawing.pieces[0].can;
            wanted.set(0, can == 3 ? random.coin() : can >> 1);
            made = true;
            for (int at = 0; at < drawing.count && made; at++) {
                Piece piece = drawing.pieces[at];
                if (piece.op != SAMPLE) {
                    made = choose(drawing, piece, wanted.get(at), wanted, random);
                    continue;
                }
                const Truth& truth = ground.truths[piece.truth];
                bool value = wanted.get(at);
                u32 many = truth.count[value];
                made = false;
                for (u32 again = 0; again < min(32u, 4 * many) && !made; again++) {
                    u32 row = truth.rows[value][random.below(many)];
                    made = true;
                    for (int other = 0; other < piece.part && made; other++) made = differ(ground, row, rows[other * 2]);
                    if (made) rows[piece.part * 2] = row;
                }
            }
        }
        if (!made) return -1;
    }
    int truth = evaluate(
        drawing, [&](const Piece& piece) { return truth_of(ground.truths[piece.truth], rows[piece.part * 2]); }, seen);
    return counts ? truth : UNKNOWN;
}

// Slots of `steps` batches from batch `first` of an epoch on; x: slots of all of them, y: gates. `chosen` has two numbers for
// each part of each thread; what belongs to one spot or gate is `apart` from the next. `totals` of a gate: what could not be made, what is unknown, what is false, what is true.
extern "C" __global__ void __launch_bounds__(128) draw(const Task* tasks, Ground ground, Layout layout, int epoch, int first,
                                                       int steps, u32* chosen, int most_parts, unsigned char* targets,
                                                       u64* totals, long apart) {
    int slot = blockIdx.x * blockDim.x + threadIdx.x;
    if (slot >= steps * layout.slots) return;
    const Task& task = tasks[blockIdx.y];
    int place = slot % layout.slots, step = first + slot / layout.slots;
    int within = place < layout.same ? place : place - layout.same < layout.grafts ? place - layout.same : place - layout.same - layout.grafts;
    int length = min(layout.batch, task.order - step * layout.batch);
    u32* rows = chosen + (blockIdx.y * apart + slot) * 2 * most_parts;
    int used = layout.same + layout.grafts + layout.chimeras, position = step * layout.batch + within;
    // -2: nothing to be made here; -1: could not be made.
    int truth = -2, seen = -1;
    if (place < used && within < length) {
        u64 order = seeded(task.seed, 1, epoch).next();
        u64 batch = ((u64)epoch << 32) | step;
        Random random = seeded(task.seed, 2, batch * 1000003ull + place);
        truth = draw_one(task, ground, layout, place, length, position, order, random, batch, rows, slot, &seen);
    }
    bool plain = place < layout.same || place < layout.same + layout.grafts;
    const Drawing& drawing = place < layout.same + layout.grafts ? task.same : task.chimeras;
    bool graft = !(place < layout.same) && plain;
    if (graft && truth == -2) {
        task.bases[slot] = 0;
        task.changes[(long)slot * (task.most_changes + 1)] = 0;
    }
    // Grafts have a z of their own; what could not be made takes any sample and does not count.
    int parts = truth < 0 || graft ? 0 : place < layout.same ? 1 : drawing.parts;
    const Drawing& spread = task.chimeras.count ? task.chimeras : task.same.count ? task.same : task.tree;
    int spots = spread.spots[2 * spread.parts - 1];
    if (parts == 0) {
        for (int spot = 0; spot < spots; spot++) task.rows[spot * apart + slot] = 0;
    } else {
        for (int part = 0; part < parts; part++) {
            for (int spot = drawing.spots[2 * part]; spot < drawing.spots[2 * part + 1]; spot++) {
                task.rows[spot * apart + slot] = rows[part * 2];
            }
        }
    }
    targets[blockIdx.y * apart + slot] = truth < 0 ? UNKNOWN : truth;
    u64* total = totals + 4 * blockIdx.y;
    if (truth == -1) atomicAdd(total, 1ull);
    if (truth == UNKNOWN) atomicAdd(total + 1, 1ull);
    if (truth == 0 || truth == 1) {
        atomicAdd(total + 2 + truth, 1ull);
        if (task.shown && seen >= 0) atomicAdd(task.shown + seen, 1ull);
    }
}
