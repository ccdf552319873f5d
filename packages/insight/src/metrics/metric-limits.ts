/** Names of policies, caps, backends and topics that have series of their own: those of an application are far fewer. */
export const MAX_NAMES = 100
/** Routes that have series of their own. */
export const MAX_ROUTES = 200
/** Upper bounds of histograms of times, in ms. */
export const ANSWER_MS: readonly number[] = [0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
export const DELAY_MS: readonly number[] = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000]
export const HOLD_MS: readonly number[] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000]
/** More than the bounds of labels allow: they come first, one label at a time. */
export const BOUNDED_BY_LABELS: number = Number.MAX_SAFE_INTEGER
