import assert from 'node:assert/strict'
import { type Answer, algorithms, type Backend, type Charge, type Policy } from '@sluice/limiter-core/backend'
import { type RedisClient, redisBackend } from '@sluice/redis'
import { FakeClock, type SeededRandom } from '@sluice/testkit'
import { ownPrefix } from '../exact/own-prefix.ts'

/** Clients of one server. `withCommand` sees the command `INCREX`, and `withoutCommand` does not. */
export interface StepClients {
  readonly withCommand: RedisClient
  readonly withoutCommand: RedisClient
  /** Replaces the clock of the server. */
  setTime(now: number): void
}

const KEYS = 40
const WINDOWS_MS = [1_000, 1_007, 60_000]
const LIMITS = [1, 7, 20, 1_000]
/** Another policy of the same keys, which no command can count. */
const beside: Policy = { name: 'beside', algorithm: 'token-bucket', limit: 30, windowMs: 10_000 }

interface Step {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly key: string
  /** Policies, units and whether the charge is advisory. The first policy is always the fixed window. */
  readonly parts: readonly (readonly [policy: Policy, cost: number, advisory: boolean])[]
  readonly takenAt: number
  readonly known?: Charge['known']
}

/**
 * Applies random steps to four counts: by native commands, by scripts on the same values, by scripts on cells, and by
 * processes that use all of these on one count. Throws at the first answer that differs. Returns the number of steps.
 */
export async function liveAlike(clients: StepClients, random: SeededRandom, steps: number): Promise<number> {
  const clock = new FakeClock({ nowMs: random.pick([1_000, 1.7e12]) })
  const backend = (client: RedisClient, prefix: string, nativeCommands: boolean): Backend =>
    redisBackend(client, { prefix, clock, serverTime: () => clock.now(), nativeCommands })
  const [native, scripts, cells, mixed] = [ownPrefix(), ownPrefix(), ownPrefix(), ownPrefix()]
  const plain = {
    native: backend(clients.withCommand, native, true),
    'scripts on integers': backend(clients.withoutCommand, scripts, true),
    'scripts on cells': backend(clients.withoutCommand, cells, false),
  }
  const members = [
    backend(clients.withCommand, mixed, true),
    backend(clients.withoutCommand, mixed, true),
    backend(clients.withoutCommand, mixed, false),
  ]
  const policies = Array.from({ length: KEYS }, (_, index): Policy[] => {
    const windowMs = WINDOWS_MS[index % WINDOWS_MS.length]
    return LIMITS.map((limit) => ({ name: 'window', algorithm: 'fixed-window', limit, windowMs }))
  })
  const takenAt = Array.from({ length: KEYS }, () => clock.now())
  let done = 0
  while (done < steps) {
    clock.advance(leapMs(random))
    const now = clock.now()
    clients.setTime(now)
    await Promise.all(
      policies.map(async (each, index) => {
        const step = randomStep(random, each, `key ${index}`, now, takenAt[index])
        if (step.operation === 'take' && random.whole(2) === 0) takenAt[index] = now
        const backends = { ...plain, 'a mixed fleet': random.pick(members) }
        const answers = await Promise.all(Object.values(backends).map((one) => apply(one, step)))
        for (const [at, name] of Object.keys(backends).entries()) {
          assert.deepEqual(answers[at], answers[0], `${name}, ${JSON.stringify(step)} at ${now}`)
        }
      }),
    )
    done += KEYS
  }
  for (const one of [...Object.values(plain), ...members]) await one.close?.()
  return done
}

function leapMs(random: SeededRandom): number {
  const windowMs = random.pick(WINDOWS_MS)
  return random.pick([0, 0, 1, 7, random.whole(windowMs), windowMs - 1, windowMs, windowMs + 1])
}

function randomStep(
  random: SeededRandom,
  policies: readonly Policy[],
  key: string,
  now: number,
  lastTakeAt: number,
): Step {
  const operation = random.pick(['take', 'take', 'take', 'take', 'peek', 'adjust', 'adjust', 'reset'] as const)
  // mostly one limit, as the limits of a policy change seldom
  const policy = random.whole(8) === 0 ? random.pick(policies) : policies[key.length % policies.length]
  const { limit, windowMs } = policy
  if (operation === 'reset') {
    const isReset = random.whole(4) === 0
    return { operation: isReset ? 'reset' : 'peek', key, parts: [[policy, 1, false]], takenAt: 0 }
  }
  if (operation === 'adjust') {
    const units = random.pick([1, random.whole(limit) + 1, -1, -random.whole(limit + 3)])
    const takenAt = random.pick([lastTakeAt, lastTakeAt, now, now - random.whole(2 * windowMs), now + 10])
    return { operation, key, parts: [[policy, units, false]], takenAt }
  }
  const cost = random.pick([1, 1, 1, 0, random.whole(limit) + 1, limit, limit + 1])
  const isPlain = random.whole(4) > 0
  const own = [policy, cost, !isPlain && random.whole(4) === 0] as const
  const parts = isPlain || random.whole(2) === 0 ? [own] : [own, [beside, 1, random.whole(2) === 0] as const]
  const knows = operation === 'take' && !isPlain && random.whole(4) === 0
  return { operation, key, parts, takenAt: 0, ...(knows && { known: known(random, policy) }) }
}

/** Random usage that a process knows after an outage. */
function known(random: SeededRandom, { limit, windowMs }: Policy): Charge['known'] {
  const admitted = { uncounted: random.whole(3), unsure: random.whole(3), upTo: random.whole(limit + 3), ageMs: 5 }
  return { used: random.whole(limit + 2), resetAfterMs: random.whole(windowMs), admitted }
}

async function apply(backend: Backend, { operation, key, parts, takenAt, known }: Step): Promise<unknown> {
  const charges = parts.map(([policy, cost, advisory], index): Charge => {
    const counter = counterOf(backend, policy)
    return { key, counter, cost, advisory, ...(known && index === 0 && { known }) }
  })
  if (operation === 'reset') {
    await backend.resetAll(charges)
    return undefined
  }
  if (operation === 'adjust') return numbersOf(await backend.adjustAll(charges, takenAt))
  return numbersOf(await backend[operation === 'take' ? 'takeAll' : 'peekAll'](charges))
}

const counters = new WeakMap<Backend, Map<Policy, Charge['counter']>>()

function counterOf(backend: Backend, policy: Policy): Charge['counter'] {
  const opened = counters.get(backend) ?? new Map<Policy, Charge['counter']>()
  counters.set(backend, opened)
  const counter = opened.get(policy) ?? backend.open(algorithms[policy.algorithm].compile(policy), policy.name)
  opened.set(policy, counter)
  return counter
}

function numbersOf({ verdicts, takenAt }: Answer): unknown {
  const each = verdicts.map(({ remaining, retryAfterMs, resetAfterMs, availableAfterMs }) => [
    ...[remaining, retryAfterMs, resetAfterMs, availableAfterMs],
  ])
  return [takenAt, ...each]
}
