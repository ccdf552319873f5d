import { type AlgorithmName, algorithms, type Policy, type SqlRunner } from '@sluice/limiter-core/backend'
import { postgresBackend } from '@sluice/postgres'
import { contractPolicies, type SeededRandom } from '@sluice/testkit'
import { PolicyTwin } from '../redis/exact/twin/policy-twin.ts'
import { ownSchema } from './own-schema.ts'

// a window that no double divides exactly into thirds and sixtieths, a day, and the window of the contract tests
const WINDOWS_MS = [60_000, 1_007, 86_400_000]

const policies: readonly Policy[] = (Object.keys(algorithms) as AlgorithmName[]).flatMap((name) =>
  WINDOWS_MS.flatMap((windowMs) =>
    contractPolicies(name)
      .map((policy) => ({ ...policy, windowMs }))
      .filter(({ limit }) => name !== 'gcra' || limit <= windowMs),
  ),
)

/**
 * Takes random policies of all algorithms in this process and in PostgreSQL, and throws at the first number that
 * differs. Returns the number of takes, at least `steps`.
 */
export async function liveAsTwins(sql: SqlRunner, random: SeededRandom, steps: number): Promise<number> {
  let now = random.pick([1_000, 1.7e12]) + random.next()
  const clock = { now: () => now, wall: () => now, after: () => () => {} }
  const schema = ownSchema()
  const backend = postgresBackend(sql, { schema, clock, serverTime: clock.now, maxBatch: random.pick([1, 7, 1_000]) })
  await backend.migrate()
  const twins = policies.map((policy, index) => new PolicyTwin(policy, `key ${index}`))
  let taken = 0
  while (taken < steps) {
    now = Math.max(1, now + leapMs(random))
    await Promise.all(twins.map((twin) => twin.live(backend, random, now)))
    const stored = await cellsByKey(sql, schema)
    for (const [index, twin] of twins.entries()) twin.check(stored.get(`key ${index}`) ?? null)
    taken += twins.length
  }
  await backend.close?.()
  return taken
}

async function cellsByKey(sql: SqlRunner, schema: string): Promise<ReadonlyMap<string, Buffer>> {
  const { rows } = await sql.query(`select name, cells from ${schema}.limits where name not like ' %'`)
  return new Map(
    (rows as readonly { readonly name: string; readonly cells: readonly number[] }[]).map(({ name, cells }) => [
      name.slice(name.indexOf('key ')),
      Buffer.from(Float64Array.from(cells).buffer),
    ]),
  )
}

/** Random time steps: zero, fractions of windows, whole windows, and backwards. */
function leapMs(random: SeededRandom): number {
  const windowMs = random.pick(WINDOWS_MS)
  return random.pick([
    () => 0,
    () => 1,
    () => random.next() * 3,
    () => random.whole(Math.ceil(windowMs / 8)) + 0.5,
    () => random.next() * windowMs,
    () => windowMs,
    () => windowMs - 1,
    () => 3 * windowMs,
    () => -random.next() * 20,
    () => -random.next() * windowMs,
  ])()
}
