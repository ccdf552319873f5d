import { beforeAll, expect, test } from '@jest/globals'
import { algorithms, type CompiledPolicy, HoldingPolicy } from '@sluice/limiter-core/backend'
import { baseSeed, numberOfRuns, type SeededRandom, seededRandom } from '@sluice/testkit'
import { policyNumbers } from '../../packages/postgres/src/requests/policy-numbers.ts'
import { LimitTables } from '../../packages/postgres/src/tables/limit-tables.ts'
import { drawnPolicy, translatedPolicies } from '../algorithms/drawn-policy.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'

const postgres = postgresForTests({ fsync: false })

beforeAll(async () => {
  await new LimitTables('limits').migrate(postgres.pool)
  await postgres.pool.query(LIVE)
})

const HISTORIES = numberOfRuns(150)
const STEPS = 60
/** Cells of `HoldingPolicy`, which are in front of the others in SQL. */
const HELD = 10

const kinds = ['take', 'adjust', 'adopt', 'hold', 'release'] as const
type Step = readonly [kind: (typeof kinds)[number], now: number, units: number, other: number]

/** A function that applies steps to one key, and returns all numbers and cells after each. */
const LIVE = `
create function live(p float8[], kinds text[], steps float8[]) returns text language plpgsql as $$
declare
  c float8[] := array_fill(0::float8, array[p[3]::int]);
  answer text := '';
  now float8;
  units float8;
  other float8;
  wait_ms float8;
  moved float8[];
begin
  for i in 1 .. cardinality(kinds) loop
    now := steps[3 * i - 2];
    units := steps[3 * i - 1];
    other := steps[3 * i];
    wait_ms := 0;
    case kinds[i]
    when 'take' then
      wait_ms := limits.limit1_wait(p, c, now, units);
      if wait_ms = 0 then c := limits.limit1_spend(p, c, now, units); end if;
      answer := answer || wait_ms || ' ';
    when 'adjust' then
      moved := limits.limit1_adjust(p, c, now, units, other);
      c := moved[3 :];
      answer := answer || moved[1] || ' ';
    when 'adopt' then
      c := limits.limit1_adopt(p, c, now, units, other);
      answer := answer || '0 ';
    when 'hold' then
      c := limits.limit1_hold(p, c, now, units, other);
      answer := answer || '0 ';
    when 'release' then
      answer := answer || limits.limit1_still_held(p, c, now, units, other) || ' ';
      c := limits.limit1_release(p, c, now, units, other);
    end case;
    answer := answer || limits.limit1_verdict(p, c, now, case when kinds[i] = 'take' then units else 0 end, wait_ms) || ' '
      || limits.limit1_remaining(p, c, now) || ' ' || limits.limit1_reset_after(p, c, now) || ' '
      || limits.limit1_kept(p, c, now) || ' ' || array_to_string(c, ' ') || E'\\n';
  end loop;
  return answer;
end
$$`

/** Applies the same steps with the class. */
function expectedOf(compiled: CompiledPolicy, steps: readonly Step[]): number[][] {
  const cells = new Float64Array(compiled.cells)
  const numbers = new Float64Array(4)
  const { holds } = compiled
  return steps.map(([kind, now, units, other]) => {
    let first = 0
    if (kind === 'adjust') first = compiled.adjust(cells, 0, now, units, other)
    else if (kind === 'adopt') compiled.adopt(cells, 0, now, units, other)
    else if (kind === 'hold') holds?.hold(cells, 0, now, units, holds.endsAt(now, other))
    else if (kind === 'release') first = holds?.release(cells, 0, now, units, other) ?? 0
    compiled.take(cells, 0, now, kind === 'take' ? units : 0, numbers)
    if (kind === 'take') first = numbers[0]
    const [wait, remaining, reset, grows] = numbers
    return [
      first,
      remaining,
      wait,
      reset,
      grows,
      remaining,
      reset,
      compiled.keptMs(cells, 0, now),
      ...storedOf(compiled, cells),
    ]
  })
}

/** The cells as PostgreSQL stores them: those of holds in front, and a log without its number of timestamps. */
function storedOf({ cells: all, holds, room }: CompiledPolicy, cells: Float64Array): number[] {
  const own = holds ? all - HELD : all
  return [...cells.slice(own), ...(room === undefined ? cells.slice(0, own) : cells.slice(1, 1 + cells[0]))]
}

function randomSteps(random: SeededRandom, { policy: { windowMs, limit }, capacity, holds }: CompiledPolicy): Step[] {
  let now = random.whole(1_800_000_000_000)
  const takes = [now]
  const ends: number[] = []
  return Array.from({ length: STEPS }, () => {
    // times of servers have microseconds, and clocks are set back
    now += (random.whole(10) === 0 ? -1 : 1) * (random.whole(4) === 0 ? 0 : random.whole(windowMs * 700) / 1_000)
    const units = random.whole(3) === 0 ? 1 : random.whole(Math.max(limit, capacity) + 2)
    const kind = random.whole(3) === 0 ? kinds[random.whole(holds ? kinds.length : 3)] : 'take'
    if (kind === 'adjust') {
      const takenAt = takes[Math.max(0, takes.length - 1 - random.whole(4))]
      return [kind, now, random.whole(2) === 0 ? units : -units, takenAt]
    }
    if (kind === 'hold' && holds) {
      const forMs = random.whole(9 * holds.sliceMs)
      ends.push(holds.endsAt(now, forMs))
      return [kind, now, units, forMs]
    }
    if (kind === 'release') return [kind, now, units, ends[Math.max(0, ends.length - 1 - random.whole(3))] ?? now]
    takes.push(now)
    return [kind, now, units, kind === 'adopt' ? random.whole(2 * windowMs) : 0]
  })
}

const cases = translatedPolicies.flatMap((some) => [false, true].map((isHeld) => [some, isHeld] as const))

test.each(cases)('the PL/pgSQL code of %o equals its class to the bit, with holds: %s', async (some, isHeld) => {
  const seed = baseSeed()
  const random = seededRandom(seed)
  for (let history = 0; history < HISTORIES; history++) {
    const policy = drawnPolicy(random, some)
    const plain = algorithms[policy.algorithm].compile(policy)
    const compiled = isHeld ? new HoldingPolicy(plain, 1 + random.whole(policy.windowMs)) : plain
    const steps = randomSteps(random, compiled)
    const { rows } = await postgres.pool.query('select live($1::float8[], $2::text[], $3::float8[]) as answer', [
      policyNumbers(compiled),
      steps.map(([kind]) => kind),
      steps.flatMap(([, ...numbers]) => numbers),
    ])
    const found = (rows[0].answer as string).trimEnd().split('\n')
    const numbers = found.map((line) => line.trim().split(' ').map(Number))
    expect({ seed, policy, steps: numbers }).toEqual({ seed, policy, steps: expectedOf(compiled, steps) })
  }
})
