import assert from 'node:assert/strict'
import type { Counters } from '@sluice/fleet/backend'
import type { MaybePromise } from '@sluice/limiter-core'
import { systemClock } from '@sluice/limiter-core/backend'
import { FakeClock } from '../fake-clock.ts'
import { eachSeed, type SeededRandom } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'
import { type CounterBench, counterClaims } from './counter-claims.ts'
import { noTokenClaims, tokenClaims } from './token-claims.ts'

/** Counters of one name, new and empty, shared by as many processes as are opened. */
export interface CounterFleet {
  /** The counters of one more process; they read time from the clock of the fleet alone. */
  open(): MaybePromise<Counters>
  close(): MaybePromise<void>
}

/** Creates a fleet whose processes use `clock`. */
export type MakeCounterFleet = (clock: FakeClock) => MaybePromise<CounterFleet>

export interface CounterContractOptions {
  /** Whether increments confirmed as `durable` survive all processes. Default: true. */
  readonly durable?: boolean | undefined
  /** Whether tokens count once; otherwise they are refused. Default: true. */
  readonly tokens?: boolean | undefined
}

const RUNS = 4
const STEPS = 60

/** The contract of all counters, wherever they are stored. */
export function counterContract(
  { describe, test }: TestRunner,
  makeFleet: MakeCounterFleet,
  { durable = true, tokens = true }: CounterContractOptions = {},
): void {
  const onBench = async (run: (bench: CounterBench) => Promise<void>): Promise<void> => {
    const clock = new FakeClock()
    const fleet = await makeFleet(clock)
    const opened: Counters[] = []
    const open = async (): Promise<Counters> => {
      const counters = await fleet.open()
      opened.push(counters)
      return counters
    }
    try {
      await run({ clock, durable, open })
    } finally {
      // one that cannot flush tries again for a while, in the time of this clock
      const closed = Promise.allSettled(opened.map((counters) => counters.close())).then(() => fleet.close())
      await passing(clock, closed)
    }
  }

  describe('fulfils the counter contract', () => {
    const claims = { ...counterClaims, ...(tokens ? tokenClaims : noTokenClaims) }
    for (const [name, run] of Object.entries(claims)) test(name, () => onBench(run))
    test('sums exactly, with any processes, counters and order', () =>
      eachSeed(RUNS, (random) => onBench((bench) => addsUp(bench, random, tokens))))
  })
}

async function addsUp({ open, clock }: CounterBench, random: SeededRandom, countsTokens: boolean): Promise<void> {
  const processes = [await open(), await open(), await open()]
  const expected = new Map<string, number>()
  const tokens = new Map<string, readonly [string, number]>()
  const add = (id: string, delta: number): void => void expected.set(id, (expected.get(id) ?? 0) + delta)
  const steps: (() => Promise<unknown>)[] = [
    () => {
      const [id, delta] = [random.pick(['a', 'b', 'c']), random.whole(20) - 5]
      add(id, delta)
      return random.pick(processes).increment(id, delta, random.pick([{}, {}, { durable: true }]))
    },
    () => {
      const deltas = Array.from(
        { length: random.whole(5) },
        () => [random.pick(['a', 'd', 'e']), random.whole(9)] as const,
      )
      for (const [id, delta] of deltas) add(id, delta)
      return random.pick(processes).incrementMany(deltas)
    },
    () => random.pick(processes).flush(),
    async () => clock.advance(random.whole(400)),
  ]
  const sendsToken = (): Promise<unknown> => {
    const token = `t${random.whole(10)}`
    const [id, delta] = tokens.get(token) ?? [random.pick(['a', 'b', 'c']), random.whole(20)]
    if (!tokens.has(token)) add(id, delta)
    tokens.set(token, [id, delta])
    return random.pick(processes).increment(id, delta, { token })
  }
  if (countsTokens) steps.push(sendsToken)
  const underWay: Promise<unknown>[] = []
  for (let step = 0; step < STEPS; step++) {
    underWay.push(random.pick(steps)())
    if (random.whole(3) === 0) await underWay.at(-1)
  }
  await Promise.all(underWay)
  for (const counters of processes) await counters.flush()
  for (const counters of processes) {
    for (const [id, value] of expected) assert.equal((await counters.read(id, { maxAgeMs: 0 })).value, value, id)
  }
}

/** Lets time pass until `done`. */
async function passing(clock: FakeClock, done: Promise<void>): Promise<void> {
  let isDone = false
  const end = done.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await new Promise((resolve) => systemClock.after(1, () => resolve(undefined), { keepAlive: true }))
    // about as fast as real time, which a real ledger needs to answer
    clock.advance(2)
  }
  await end
}
