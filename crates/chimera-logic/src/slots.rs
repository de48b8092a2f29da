//! Buffers for a straight list of steps: a step's buffer is used again after its last reader, so that a block of rows
//! needs as many buffers as values are live at once, not as many as there are steps.

/// The buffer of each step, and how many there are.
///
/// `reads(step)` are the earlier steps whose values a step reads. No step writes where it reads. A step that nothing
/// reads keeps its buffer until the next step: results are copied out right after they are made.
pub(crate) fn assign<R: IntoIterator<Item = usize>>(steps: usize, reads: impl Fn(usize) -> R) -> (Vec<usize>, usize) {
    let mut last_use: Vec<usize> = (0..steps).collect();
    for step in 0..steps {
        reads(step).into_iter().for_each(|read| last_use[read] = step);
    }
    let (mut slots, mut free, mut count) = (Vec::with_capacity(steps), Vec::new(), 0);
    for step in 0..steps {
        let slot = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        slots.push(slot);
        // A step may read the same value twice; its buffer is freed once.
        let mut done: Vec<usize> = reads(step).into_iter().chain([step]).filter(|&at| last_use[at] == step).collect();
        done.sort_unstable();
        done.dedup();
        free.extend(done.into_iter().map(|at| slots[at]));
    }
    (slots, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lives_until_its_last_reader() {
        let reads = [vec![], vec![0, 0], vec![], vec![1, 2], vec![0, 3], vec![]];
        let (slots, count) = assign(reads.len(), |step| reads[step].clone());
        let mut holds = vec![usize::MAX; count];
        for (step, reads) in reads.iter().enumerate() {
            for &read in reads {
                assert_eq!(holds[slots[read]], read, "step {step} finds the value of step {read}");
                assert_ne!(slots[read], slots[step]);
            }
            holds[slots[step]] = step;
        }
        // Steps 0, 1 and 2 are read by 3 and 4, and 3 needs a place of its own.
        assert_eq!(count, 4);
    }
}
