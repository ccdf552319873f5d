/** Upper bounds in ms of duration histograms. */
export const BUCKETS_MS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]
