import type { Policy } from '@sluice/limiter-core'

type Shape = Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>

/** Promised maximum in any window, in limits, and the share that a known attack gets. */
export const promises: readonly (readonly [string, Shape, number, number])[] = [
  ['fixed-window', { algorithm: 'fixed-window', limit: 100 }, 2, 1.99],
  ['sliding-window', { algorithm: 'sliding-window', limit: 100 }, 2, 1.97],
  ['sliding-window, limit 1', { algorithm: 'sliding-window', limit: 1 }, 2, 1],
  ['sliding-window, 2 slices', { algorithm: 'sliding-window', limit: 100, slices: 2 }, 1, 1],
  ['sliding-window, 10 slices', { algorithm: 'sliding-window', limit: 100, slices: 10 }, 1, 1],
  ['sliding-window, 60 slices', { algorithm: 'sliding-window', limit: 100, slices: 60 }, 1, 1],
  ['sliding-log', { algorithm: 'sliding-log', limit: 100 }, 1, 1],
  // burst + rate * W, here 1 limit + 1 limit
  ['token-bucket', { algorithm: 'token-bucket', limit: 100 }, 2, 1.99],
  ['token-bucket, burst 10', { algorithm: 'token-bucket', limit: 100, burst: 10 }, 1.1, 1.09],
  ['gcra', { algorithm: 'gcra', limit: 100 }, 2, 1.99],
  ['gcra, burst 10', { algorithm: 'gcra', limit: 100, burst: 10 }, 1.1, 1.09],
]
