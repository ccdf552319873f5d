import type { Policy } from '@sluice/limiter-core'
import {
  type Arrival,
  burstGaps,
  PolicyDriver,
  poissonGaps,
  type SeededRandom,
  traffic,
  zipfKeys,
} from '@sluice/testkit'
import { compiledOf } from '../compiled-of.ts'

type Shape = Partial<Policy> & Pick<Policy, 'algorithm' | 'limit'>

/** Decisions of a policy on a stream, compared with an exact count of its admitted requests in each sliding window. */
export interface Judgement {
  /** Shares of all requests: admitted over the limit, and denied under it (even by one unit). */
  readonly wronglyAllowed: number
  readonly wronglyDenied: number
  /** Total admitted, relative to what an exact log admits of the same stream. */
  readonly admitted: number
  /** Most admitted in a window, in limits: for the worst key, and for the median of the keys that were denied. */
  readonly worstWindow: number
  readonly middleWindow: number
}

/** Times of admitted requests, and how many of them are in the window that ends now. */
class Admitted {
  readonly #times: number[] = []
  #from = 0

  inWindow(atMs: number, windowMs: number): number {
    while (this.#times[this.#from] <= atMs - windowMs) this.#from++
    return this.#times.length - this.#from
  }

  add(atMs: number): void {
    this.#times.push(atMs)
  }

  get total(): number {
    return this.#times.length
  }
}

interface Seen {
  readonly driver: PolicyDriver
  readonly admitted: Admitted
  readonly byExactLog: Admitted
  most: number
  denied: boolean
}

/** Sends a stream through a policy. `arrivals` names a key for each request. */
export function judge(shape: Shape, arrivals: Iterable<Arrival>): Judgement {
  const compiled = compiledOf(shape)
  const { limit, windowMs } = compiled.policy
  const keys = new Map<number, Seen>()
  let [requests, wronglyAllowed, wronglyDenied] = [0, 0, 0]
  for (const { atMs, key } of arrivals) {
    const seen = keys.get(key) ?? newcomer(new PolicyDriver(compiled))
    keys.set(key, seen)
    requests++
    if (seen.byExactLog.inWindow(atMs, windowMs) < limit) seen.byExactLog.add(atMs)
    const inWindow = seen.admitted.inWindow(atMs, windowMs)
    const { allowed } = seen.driver.take(atMs, 1)
    if (allowed && inWindow >= limit) wronglyAllowed++
    if (!allowed && inWindow < limit) wronglyDenied++
    if (!allowed) seen.denied = true
    if (!allowed) continue
    seen.admitted.add(atMs)
    seen.most = Math.max(seen.most, inWindow + 1)
  }
  const all = [...keys.values()]
  const most = all.filter((seen) => seen.denied).map((seen) => seen.most / limit)
  most.sort((a, b) => a - b)
  return {
    wronglyAllowed: wronglyAllowed / requests,
    wronglyDenied: wronglyDenied / requests,
    admitted: sum(all, (seen) => seen.admitted.total) / sum(all, (seen) => seen.byExactLog.total),
    worstWindow: all.reduce((worst, seen) => Math.max(worst, seen.most / limit), 0),
    middleWindow: most[most.length >> 1] ?? 0,
  }
}

function newcomer(driver: PolicyDriver): Seen {
  return { driver, admitted: new Admitted(), byExactLog: new Admitted(), most: 0, denied: false }
}

function sum(all: readonly Seen[], of: (seen: Seen) => number): number {
  return all.reduce((total, seen) => total + of(seen), 0)
}

/** Streams of `count` requests for a limit of 100 in 60 s. */
export const streams: readonly {
  readonly name: string
  arrivals(random: SeededRandom, count: number): ReturnType<typeof traffic>
}[] = [
  {
    // 200 requests a second: a dozen clients send more than the limit, the busiest 12 times as much
    name: 'Zipf, 10,000 clients',
    arrivals: (random, count) => traffic(count, poissonGaps(random, 5), zipfKeys(random, 10_000)),
  },
  {
    // 50 requests a second: two clients send more than the limit, 2.5 and 1.2 times as much
    name: 'Zipf, 100,000 clients, two of them over their limit',
    arrivals: (random, count) => traffic(count, poissonGaps(random, 20), zipfKeys(random, 100_000)),
  },
  {
    // every client sends 90 % of its limit on average, and sometimes more by chance
    name: 'Poisson at 0.9 limits',
    arrivals: (random, count) => traffic(count, poissonGaps(random, 60_000 / 90 / 50), () => random.whole(50)),
  },
  {
    name: 'Poisson at 1.2 limits',
    arrivals: (random, count) => traffic(count, poissonGaps(random, 60_000 / 120 / 50), () => random.whole(50)),
  },
  {
    name: 'Poisson at 10 limits',
    arrivals: (random, count) => traffic(count, poissonGaps(random, 60_000 / 1_000 / 10), () => random.whole(10)),
  },
  {
    name: 'bursts of 30 by one client in 50, 1.2 limits',
    arrivals: (random, count) => {
      let drawn = 0
      let key = 0
      const keyOfBurst = (): number => {
        if (drawn++ % 30 === 0) key = random.whole(50)
        return key
      }
      return traffic(count, burstGaps(random, 30, (60_000 / 120 / 50) * 30), keyOfBurst)
    },
  },
]

export const contenders: readonly (readonly [string, Shape])[] = (
  [
    ['fixed-window', { algorithm: 'fixed-window' }],
    ['sliding-window', { algorithm: 'sliding-window' }],
    ['sliding-window, 2 slices', { algorithm: 'sliding-window', slices: 2 }],
    ['sliding-window, 10 slices', { algorithm: 'sliding-window', slices: 10 }],
    ['sliding-window, 60 slices', { algorithm: 'sliding-window', slices: 60 }],
    ['sliding-log', { algorithm: 'sliding-log' }],
    // gcra decides the same
    ['token-bucket', { algorithm: 'token-bucket' }],
  ] as const
).map(([name, shape]) => [name, { ...shape, limit: 100, windowMs: 60_000 }])

/** A row of a table in Markdown. */
export function row(contender: string, stream: string, judged: Judgement): string {
  const percent = (part: number): string => `${(100 * part).toFixed(3)} %`
  const windows = `${judged.worstWindow.toFixed(2)} | ${judged.middleWindow.toFixed(2)}`
  const wrong = `${percent(judged.wronglyAllowed)} | ${percent(judged.wronglyDenied)}`
  return `| ${stream} | ${contender} | ${windows} | ${judged.admitted.toFixed(3)} | ${wrong} |`
}
