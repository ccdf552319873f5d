import assert from 'node:assert/strict'
import type { Decision, Limiter } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import type { BanBench } from './ban-bench.ts'

/** Attempts to observe a change of another process, each with an exchange of counts. */
const ATTEMPTS = 100
/** Longest time by which an exchange and a repeated read delay what a process observes. */
export const DELAY_MS = 6_000

/** Sends requests of a key until the process has denied `count` of them by the limit. */
export async function deny(bench: BanBench, process: number, key: string, count: number): Promise<void> {
  const limiter = bench.limiters[process]
  if (bench.fleet.isEventual) {
    // the process learns of the key
    await limiter.take(key, 0)
    await exchange(bench)
    await exchange(bench)
  }
  for (let denied = 0, sent = 0; denied < count; sent++) {
    assert.ok(sent < count + 100, 'a limit of 2 units denies requests')
    const { binding, source } = await limiter.take(key)
    // also the last denial is that of the limit
    assert.notEqual(source, 'banned', `banned after ${denied} denials instead of ${count}`)
    if (binding.allowed) continue
    denied++
    // a strike is counted without waiting for it
    await settled(bench)
  }
}

/** Sends requests until the denials of all processes together ban the key. */
export async function untilOverdue(bench: BanBench, left: number = ATTEMPTS): Promise<void> {
  const { source } = await bench.limiters[0].take('a')
  if (source === 'banned') return
  assert.ok(left > 0, 'further denials ban the key')
  await exchange(bench)
  return untilOverdue(bench, left - 1)
}

export function until(
  bench: BanBench,
  limiter: Limiter,
  key: string,
  holds: (decision: Decision) => boolean,
): Promise<Decision> {
  return attempt(bench, limiter, key, holds, ATTEMPTS)
}

async function attempt(
  bench: BanBench,
  limiter: Limiter,
  key: string,
  holds: (decision: Decision) => boolean,
  left: number,
): Promise<Decision> {
  const decision = await limiter.take(key, 0)
  if (holds(decision)) return decision
  assert.ok(left > 0, `the decision remains ${JSON.stringify(decision)}`)
  await exchange(bench)
  return attempt(bench, limiter, key, holds, left - 1)
}

export function untilBanned(bench: BanBench, limiter: Limiter, key: string): Promise<Decision> {
  return until(bench, limiter, key, ({ source }) => source === 'banned')
}

export async function untilFree(bench: BanBench, limiter: Limiter, key: string): Promise<void> {
  // a known ban is read again after a second
  bench.fleet.clock.advance(1_000)
  await limiter.take(key, 0)
  await until(bench, limiter, key, ({ source }) => source !== 'banned')
}

/** Lets time pass with a few exchanges. */
export async function pass(bench: BanBench, ms: number): Promise<void> {
  bench.fleet.clock.advance(ms)
  await exchange(bench)
}

export async function exchange(bench: BanBench): Promise<void> {
  await bench.fleet.exchange?.()
  await settled(bench)
}

/** Waits for a call that needs exchanges to be answered. */
export async function exchanging(bench: BanBench, call: unknown): Promise<void> {
  let isDone = false
  const done = Promise.resolve(call).then(() => {
    isDone = true
  })
  while (!isDone) await exchange(bench)
  await done
}

/** Waits until calls that nothing waits for have been answered: a strike, an earlier ban and a ban, one after the other. */
async function settled({ limiters }: BanBench): Promise<void> {
  for (let call = 0; call < 6; call++) {
    for (const limiter of limiters) await limiter.peek('another key')
    // the peeks of some backends need no turn of the event loop
    await new Promise<void>((resolve) => afterThisTurn(resolve))
  }
}

export function isNear(ms: number, expectedMs: number): void {
  assert.ok(ms <= expectedMs && ms > expectedMs - DELAY_MS, `${ms} ms instead of about ${expectedMs} ms`)
}
