import { byAll, byIp, byRoute, type Clock, memoryBackend } from '@sluice/express'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from '../policies/text-source.ts'

/** Requests that the limits of the tests allow. */
const LIMIT = 3

/** How requests of a route are counted. */
export type Counting = 'client' | 'client and route' | 'policy of the route' | 'policy of the method'

/** Methods and countings under which each framework is tested. */
export const cases: readonly (readonly ['GET' | 'POST', Counting])[] = [
  ['GET', 'client and route'],
  ['GET', 'policy of the method'],
  ['POST', 'client'],
  ['POST', 'policy of the route'],
]

/** Defaults of limiters, and the number of entries that they keep. */
export class Kept {
  readonly clock: Clock = new FakeClock()
  /** The cap of the application, if it has one. */
  cap: { count(): number | Promise<number> } | undefined
  readonly #backend = memoryBackend({ clock: this.clock })
  readonly #insight = createInsight()

  // biome-ignore lint/suspicious/noExplicitAny: the options of each framework
  get shared(): any {
    return { clock: this.clock, backend: this.#backend, observers: [this.#insight] }
  }

  /** Returns the bytes of all keys, and the number of series of metrics. */
  count(): number {
    const series = prometheusText(this.#insight)
      .split('\n')
      .filter((line) => !line.startsWith('#'))
    return (this.#backend as unknown as { readonly bytes: number }).bytes + series.length
  }

  async close(): Promise<void> {
    await this.#insight.close()
  }
}

/** Returns the options of `rateLimit` for a route. */
// biome-ignore lint/suspicious/noExplicitAny: requests of each framework
export function limitOf(counting: Counting, route: string, method: string): any {
  const limit = { limit: LIMIT, window: '1h' }
  if (counting === 'client') return limit
  if (counting === 'client and route') return { ...limit, key: byAll(byIp(), byRoute()) }
  const match = counting === 'policy of the route' ? { route: `${method} ${route}` } : { method }
  const policy = { name: 'login', key: 'address', limit: LIMIT, per: '1h', match }
  return policies(new TextSource(JSON.stringify({ version: 1, policies: [policy] })))
}
