import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLimiter, type Decision } from '@sluice/limiter-core'
import { eachSeed } from '@sluice/testkit'
import { fakeClocks } from './same-responses.ts'

interface Result {
  readonly remainingPoints: number
  readonly msBeforeNext: number
}

const { RateLimiterMemory } = createRequire(import.meta.url)('rate-limiter-flexible')
const policy = { name: 'api', limit: 6, window: '1m', algorithm: 'fixed-window' } as const
const both = () => [new RateLimiterMemory({ points: 6, duration: 60 }), createLimiter({ policies: [policy] })] as const

beforeEach(fakeClocks)
afterEach(() => {
  jest.useRealTimers()
})

/** The state of a key in both libraries: units left, and ms until the next unit if none is left. */
const left = ({ remainingPoints, msBeforeNext }: Result) => [remainingPoints, remainingPoints === 0 ? msBeforeNext : 0]
const leftOf = ({ binding }: Decision) => [binding.remaining, binding.remaining === 0 ? binding.resetAfterMs : 0]

test('consume and take admit the same requests, with the same units left and the same wait', async () => {
  await eachSeed(5, async (random) => {
    const [theirs, ours] = both()
    let denied = 0
    for (let asked = 0; asked < 200; asked++) {
      const user = `user ${random.whole(3)}`
      const was = await theirs.consume(user).then(
        (result: Result) => [true, ...left(result)],
        (result: Result) => [false, ...left(result)],
      )
      const decision = ours.take(user)
      expect([decision.allowed, ...leftOf(decision)]).toEqual(was)
      if (!decision.allowed) denied++
      jest.advanceTimersByTime(random.whole(6_000))
    }
    expect(denied).toBeGreaterThan(0)
  })
})

test('penalty becomes charge, reward a negative charge, get peek, and delete reset', async () => {
  const [theirs, ours] = both()
  const deeds = [
    [() => theirs.consume('anna'), () => ours.take('anna')],
    [() => theirs.penalty('anna', 2), () => ours.charge('anna', 2)],
    [() => theirs.reward('anna', 1), () => ours.charge('anna', -1)],
    [() => theirs.penalty('anna', 9), () => ours.charge('anna', 9)],
    [() => theirs.delete('anna'), () => ours.reset('anna')],
    [() => theirs.consume('anna'), () => ours.take('anna')],
  ] as const
  const seen: [unknown, unknown][] = []
  for (const [theirDeed, ourDeed] of deeds) {
    await theirDeed()
    await ourDeed()
    const found = await theirs.get('anna')
    const remaining = found ? Math.max(0, 6 - found.consumedPoints) : 6
    seen.push([remaining, ours.peek('anna').binding.remaining])
  }
  expect(seen.map(([, remaining]) => remaining)).toEqual([5, 3, 4, 0, 6, 5])
  expect(seen.map(([remaining]) => remaining)).toEqual(seen.map(([, remaining]) => remaining))
})

test('block until the window ends becomes a charge of the whole limit', async () => {
  const [theirs, ours] = both()
  await theirs.block('anna', 60)
  ours.charge('anna', 6)
  for (const waitMs of [60_000, 1]) {
    await expect(theirs.consume('anna')).rejects.toMatchObject({ msBeforeNext: waitMs })
    expect(ours.take('anna')).toMatchObject({ allowed: false, retryAfterMs: waitMs })
    jest.advanceTimersByTime(59_999)
  }
  expect(ours.take('anna').allowed).toBe(true)
})

test('a denied expensive request leaves the remaining units to cheaper ones, unlike before', async () => {
  const [theirs, ours] = both()
  await theirs.consume('anna', 4)
  ours.take('anna', 4)
  await expect(theirs.consume('anna', 5)).rejects.toMatchObject({ remainingPoints: 0 })
  expect(ours.take('anna', 5).allowed).toBe(false)
  await expect(theirs.consume('anna', 2)).rejects.toMatchObject({ remainingPoints: 0 })
  expect(ours.take('anna', 2).allowed).toBe(true)
})
