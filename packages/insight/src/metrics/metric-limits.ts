/** Maximum number of policies, caps, backends and topics with their own series. Applications use far fewer. */
export const MAX_NAMES = 100
/** Maximum number of routes with their own series. */
export const MAX_ROUTES = 200
/** Histogram buckets for times: upper bounds in ms. */
export const ANSWER_MS: readonly number[] = [0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
export const DELAY_MS: readonly number[] = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]
export const HOLD_MS: readonly number[] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000]
/** Series limit for metrics whose labels are already bounded by `LabelBound`. */
export const BOUNDED_BY_LABELS: number = Number.MAX_SAFE_INTEGER
