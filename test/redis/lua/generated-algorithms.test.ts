import { expect, test } from '@jest/globals'
import { algorithms, type CompiledPolicy, type Policy } from '@sluice/limiter-core/backend'
import { baseSeed, numberOfRuns, type SeededRandom, seededRandom } from '@sluice/testkit'
import { algorithmTexts } from '../../../packages/redis/src/lua/algorithms/generated.ts'
import { constantNames, policyArgs } from '../../../packages/redis/src/lua/policy-args.ts'
import { drawnPolicy, translatedPolicies } from '../../algorithms/drawn-policy.ts'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisClientForTests()

const HISTORIES = numberOfRuns(300)
const STEPS = 60

const kinds = ['take', 'one-pass', 'adjust', 'adopt'] as const
type Step = readonly [kind: (typeof kinds)[number], now: number, units: number, other: number]

/** Returns the text of a script that applies steps to one key, and returns all numbers and cells after each. */
function scriptOf(compiled: CompiledPolicy): string {
  const [algorithm, ...constants] = policyArgs(compiled)
  const text = algorithmTexts[algorithm as keyof typeof algorithmTexts]
  const places = Array.from({ length: text.locals ?? 0 }, (_, index) => index + 1)
  const variables = places.map((place) => `c${place}`).join(', ')
  const elements = places.map((place) => `c[${place}]`).join(', ')
  const names = constantNames[algorithm as keyof typeof constantNames]
  return `
    local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
    local ${names.join(', ')} = ${constants.join(', ')}
    ${text.constants}
    ${text.takes}
    ${text.moves}
    local function onePass(c, now, cost)
      local wait, left, reset, grows, native
      ${variables === '' ? '' : `local ${variables} = unpack(c)`}
      ${text.take}
      ${variables === '' ? '' : `${elements} = ${variables}`}
      return wait, left, reset, grows
    end
    local c, out = {}, {}
    for i = 1, cells or 1 do c[i] = 0 end
    for i = 1, #ARGV, 4 do
      local kind, now, units, other = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
      local wait, left, reset, grows = 0, 0, 0, 0
      if kind == 'one-pass' then
        wait, left, reset, grows = onePass(c, now, units)
      else
        if kind == 'take' then
          wait = waitMs(c, now, units)
          if wait == 0 then spend(c, now, units) end
        elseif kind == 'adjust' then wait = adjust(c, now, units, other)
        else adopt(c, now, units, other) end
        left, reset, grows = numbersOf(c, now, units, kind == 'take' and wait or 0)
      end
      local count = cells or c[1] + 1
      for _, value in ipairs({ wait, left, reset, grows, unpack(c, 1, count) }) do
        out[#out + 1] = value == huge and 'Infinity' or string.format('%.17g', value)
      end
    end
    return table.concat(out, ' ')`
}

/** Applies the same steps with the class. */
function numbersOf(compiled: CompiledPolicy, steps: readonly Step[]): number[] {
  const cells = new Float64Array(compiled.cells)
  const numbers = new Float64Array(4)
  return steps.flatMap(([kind, now, units, other]) => {
    let first = 0
    if (kind === 'adjust') first = compiled.adjust(cells, 0, now, units, other)
    else if (kind === 'adopt') compiled.adopt(cells, 0, now, units, other)
    if (kind === 'take' || kind === 'one-pass') compiled.take(cells, 0, now, units, numbers)
    else compiled.take(cells, 0, now, 0, numbers)
    const count = compiled.room === undefined ? compiled.cells : cells[0] + 1
    if (kind === 'take' || kind === 'one-pass') first = numbers[0]
    return [first, ...numbers.slice(1), ...cells.slice(0, count)]
  })
}

function randomSteps(random: SeededRandom, { windowMs, limit }: Policy, capacity: number): Step[] {
  let now = random.whole(1_800_000_000_000)
  const takes = [now]
  return Array.from({ length: STEPS }, () => {
    // times of servers have microseconds, and clocks are set back
    now += (random.whole(10) === 0 ? -1 : 1) * (random.whole(4) === 0 ? 0 : random.whole(windowMs * 700) / 1_000)
    const units = random.whole(3) === 0 ? 1 : random.whole(Math.max(limit, capacity) + 2)
    const kind = random.whole(4) === 0 ? kinds[random.whole(kinds.length)] : 'one-pass'
    if (kind === 'adjust') {
      const takenAt = takes[Math.max(0, takes.length - 1 - random.whole(4))]
      return [kind, now, random.whole(2) === 0 ? units : -units, Math.min(now, takenAt)]
    }
    takes.push(now)
    return [kind, now, units, kind === 'adopt' ? random.whole(2 * windowMs) : 0]
  })
}

test.each(translatedPolicies)('the Lua code of %o equals its class to the bit', async (some) => {
  const seed = baseSeed()
  const random = seededRandom(seed)
  for (let history = 0; history < HISTORIES; history++) {
    const policy = drawnPolicy(random, some)
    const compiled = algorithms[policy.algorithm].compile(policy)
    const steps = randomSteps(random, policy, compiled.capacity)
    const reply = String(await redis.client.eval(scriptOf(compiled), 0, ...steps.flat().map(String)))
    const found = reply.split(' ').map(Number)
    const expected = numbersOf(compiled, steps)
    expect({ seed, policy, steps: found }).toEqual({ seed, policy, steps: expected })
  }
})
