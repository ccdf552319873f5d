import type { Priority } from '@sluice/express'

/** A route of the shop, and its share of the load. */
interface Route {
  readonly priority: Priority
  readonly share: number
}

export const routes: Readonly<Record<string, Route>> = {
  '/checkout': { priority: 'critical', share: 0.05 },
  '/account': { priority: 'high', share: 0.1 },
  '/products': { priority: 'normal', share: 0.25 },
  '/recommendations': { priority: 'low', share: 0.25 },
  '/prefetch': { priority: 'sheddable', share: 0.35 },
}
