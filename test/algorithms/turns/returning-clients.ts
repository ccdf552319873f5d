import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

/** A policy in memory. */
export type OwnPolicy = Omit<PolicyInput, 'backend'>

/** A client that sends one request, and returns when `Retry-After` says so. */
export interface Client {
  readonly key?: string
  /** Units of its request. Default: 1. */
  readonly cost?: number
  /** Time of its first request. */
  readonly startMs: number
  /** Latency of each of its requests. Default: 0. */
  readonly latencyMs?: () => number
  /** Whether it never returns. Default: false. */
  readonly leaves?: boolean
  /** Milliseconds after which a client asks again without waiting. Default: it obeys `Retry-After`. */
  readonly hammersMs?: number
  /** Milliseconds between an admission and the next request. Default: one request only. */
  readonly asksAgainMs?: () => number
}

export interface Outcome {
  /** Times of admissions, in order. */
  readonly admitted: readonly number[]
  /** Number of requests that returned after one denial, and how many of them were admitted then. */
  readonly returned: number
  readonly onFirstReturn: number
  readonly denials: number
  readonly longestMs: number
}

/** Runs clients against a limiter with one policy until all are served, or until `untilMs`. */
export function serve(policy: OwnPolicy, clients: readonly Client[], untilMs = Number.POSITIVE_INFINITY): Outcome {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({ policies: [policy], clock })
  const startMs = clock.now()
  const due: { at: number; client: Client; attempts: number }[] = []
  const add = (at: number, client: Client, attempts: number): void => {
    const arrives = at + (client.latencyMs?.() ?? 0)
    // requests of one instant keep their order
    const before = due.findLastIndex((other) => other.at <= arrives)
    due.splice(before + 1, 0, { at: arrives, client, attempts })
  }
  for (const client of clients) add(startMs + client.startMs, client, 0)
  const admitted: number[] = []
  let [returned, onFirstReturn, denials, longestMs] = [0, 0, 0, 0]
  for (let next = due.shift(); next && next.at - startMs <= untilMs; next = due.shift()) {
    const { at, client, attempts } = next
    clock.advance(at - clock.now())
    const { allowed, retryAfterMs } = limiter.take(client.key ?? 'shared', client.cost ?? 1)
    const obeys = client.hammersMs === undefined
    if (obeys && attempts === 1) returned++
    if (obeys && attempts === 1 && allowed) onFirstReturn++
    if (allowed) {
      for (let unit = 0; unit < (client.cost ?? 1); unit++) admitted.push(at)
      if (client.hammersMs !== undefined) add(at + client.hammersMs, client, 0)
      else if (client.asksAgainMs) add(at + client.asksAgainMs(), client, 0)
      continue
    }
    denials++
    longestMs = Math.max(longestMs, retryAfterMs)
    if (client.leaves) continue
    add(at + (client.hammersMs ?? Math.ceil(retryAfterMs / 1_000) * 1_000), client, attempts + 1)
  }
  limiter.close()
  return { admitted, returned, onFirstReturn, denials, longestMs }
}

/** Returns the largest number of units that were admitted in any interval [t, t + windowMs). */
export function mostIn(admitted: readonly number[], windowMs: number): number {
  let most = 0
  for (let first = 0, last = 0; last < admitted.length; last++) {
    while (admitted[last] - admitted[first] >= windowMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
