//! Percentiles and ratios of times in microseconds.

use std::time::Instant;

/// Median, mean, 90th, 99th percentile, maximum and total on one line.
pub fn line(name: &str, mut times: Vec<f64>) -> String {
    if times.is_empty() {
        return format!("{name}: none");
    }
    times.sort_by(f64::total_cmp);
    let total: f64 = times.iter().sum();
    format!(
        "{name}: n {} median {:.2} mean {:.2} p90 {:.2} p99 {:.2} max {:.1} µs, total {:.3} s",
        times.len(),
        at(&times, 0.5),
        total / times.len() as f64,
        at(&times, 0.9),
        at(&times, 0.99),
        at(&times, 1.0),
        total / 1e6
    )
}

/// The ratios ours/theirs, one a query.
pub fn ratios(name: &str, ours: &[f64], theirs: &[f64]) -> String {
    let mut ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
    if ratios.is_empty() {
        return format!("{name}: none");
    }
    ratios.sort_by(f64::total_cmp);
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let faster = ratios.iter().filter(|r| **r < 1.0).count() as f64 / ratios.len() as f64;
    let totals = ours.iter().sum::<f64>() / theirs.iter().sum::<f64>();
    format!(
        "{name}: n {} geometric mean {:.3} median {:.3} p90 {:.2} p99 {:.2} max {:.1}, faster {:.1} %, totals {:.4}",
        ratios.len(),
        mean,
        at(&ratios, 0.5),
        at(&ratios, 0.9),
        at(&ratios, 0.99),
        at(&ratios, 1.0),
        faster * 100.0,
        totals
    )
}

fn at(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Processor time of this thread in microseconds: the machine is shared, wall time is not ours.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Runs a question once; its time in microseconds.
///
/// The processor's clock adds its own system call, more than half a microsecond; the wall clock adds what others
/// did meanwhile. Neither is ever less than the truth, so the smaller of the two is taken.
pub fn once<T>(ask: impl FnOnce() -> T) -> (T, f64) {
    let spent = now();
    let start = Instant::now();
    let answer = ask();
    let wall = start.elapsed().as_secs_f64() * 1e6;
    (answer, wall.min(now() - spent))
}

/// Runs a question up to three times, the best time in microseconds; over 20 ms once.
pub fn timed<T>(mut ask: impl FnMut() -> T) -> (T, f64) {
    let (mut answer, mut best) = once(&mut ask);
    for _ in 0..2 {
        if best > 20_000.0 {
            break;
        }
        let (again, spent) = once(&mut ask);
        (answer, best) = (again, best.min(spent));
    }
    (answer, best)
}
