import { test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { type CountedLane, countThrough, type Tier, type Victim } from './kills.ts'

/** Defines a test for each tier and victim, with the given number of kills. */
export function killClaims(kills: number, timeoutMs: number): void {
  const cases: readonly (readonly [Tier, Victim])[] = [
    ['hot', 'process'],
    ['hot', 'redis'],
    ['hot', 'emptied redis'],
    ['hot', 'postgres'],
    ['buffered', 'process'],
    ['buffered', 'postgres'],
    ['embedded', 'process'],
  ]
  test.each(cases)(
    `the %s tier keeps every promised unit when the %s is killed ${kills} times`,
    (tier, victim) =>
      eachSeed(1, async (random) => {
        const lanes = await countThrough({ tier, victim, kills }, random)
        for (const lane of lanes) check(lane, tier, victim)
        const sum = (of: (lane: CountedLane) => number): number => lanes.reduce((all, lane) => all + of(lane), 0)
        const lost = sum(({ answered, durable }) => Math.max(0, answered - durable))
        process.stdout.write(`${tier}, ${victim}: ${sum(({ answered }) => answered)} answered, ${lost} lost\n`)
      }),
    timeoutMs,
  )
}

function check({ lane, sent, answered, unflushed, durable }: CountedLane, tier: Tier, victim: Victim): void {
  // the test always ends with a crash of the process
  const mayLose = lane.startsWith('plain') && (victim === 'emptied redis' || tier !== 'hot')
  const least = mayLose ? answered - unflushed : answered
  if (durable >= least && durable <= sent) return
  throw new Error(`${lane}: the ledger has ${durable}, of ${sent} sent, ${answered} answered, ${unflushed} not flushed`)
}
