import { afterAll, describe, expect, test } from '@jest/globals'
import { eachSeed, numberOfRuns, type SeededRandom } from '@sluice/testkit'
import {
  type AttackOptions,
  attack,
  check,
  DAY_MS,
  EASY,
  HOUR_MS,
  hostOf,
  normalDay,
  type Outcomes,
  type SimulatedTry,
  type SimulationOptions,
  simulate,
} from './login-simulation.ts'

/** `SLUICE_RUNS` changes the number of people and of attacks, not their size: 1 is the table of docs/abuse.md. */
const people = numberOfRuns(20_000)

type Guesses = Pick<AttackOptions, 'count' | 'account' | 'address'>

const attacks: Readonly<Record<string, Guesses>> = {
  '10,000 addresses, one guess each, on 500 accounts': {
    count: 10_000,
    account: (index) => `person-${index % 500}`,
    address: (index) => hostOf(20, index),
  },
  '5,000 addresses on one account': {
    count: 5_000,
    account: () => 'person-7',
    address: (index) => hostOf(20, index),
  },
  'one address on 5,000 accounts': {
    count: 5_000,
    account: (index) => `person-${index}`,
    address: () => '203.0.113.9',
  },
}

const rows: string[] = []
afterAll(() => {
  process.stdout.write(
    `| scenario | guesses hashed | people denied | challenged | with a task on the page |\n${rows.join('\n')}\n`,
  )
})

function day(random: SeededRandom, known: number, familiar = 0): SimulatedTry[] {
  return normalDay(random, { people, known, familiar })
}

function percent(part: number, { tries }: Outcomes): string {
  return tries === 0 ? '–' : `${((100 * part) / tries).toFixed(2)} %`
}

/** Runs the attempts and prints a row of the table. */
async function row(
  name: string,
  tries: readonly SimulatedTry[],
  options: SimulationOptions = { withTasks: true },
): Promise<Awaited<ReturnType<typeof simulate>>> {
  const outcomes = await simulate(tries, options)
  const { people, bots } = outcomes
  const ofPeople = [people.denied, people.challenged, people.prepared].map((part) => percent(part, people))
  const cells = [name, percent(bots.hashed, bots), ...ofPeople]
  rows.push(`| ${cells.join(' | ')} | work ${Math.round(bots.work / 1e6)} M`)
  return outcomes
}

test('an attack below the limit of pressure reaches the password hash at most as often as the slow limit allows', async () => {
  await eachSeed(1, async (random) => {
    const guesses = attacks['10,000 addresses, one guess each, on 500 accounts']
    const slow = attack({ ...guesses, count: 6_000, fromMs: DAY_MS, durationMs: DAY_MS })
    const { bots } = await row('6,000 addresses in a day', [...day(random, 0.9), ...slow])
    // the limit, what successes of unknown devices excuse, and a part that leaves the window within the day
    expect(bots.hashed).toBeLessThanOrEqual(100 + 0.1 * 0.1 * people + 100)
    expect(bots.hashed).toBeLessThanOrEqual(bots.tries * 0.05)
  })
})

test('bots that solve every task are stopped by the check of the application that follows', async () => {
  await eachSeed(1, async (random) => {
    const guesses = attacks['10,000 addresses, one guess each, on 500 accounts']
    const solving = attack({ ...guesses, client: 'solving bot', fromMs: 1.5 * DAY_MS, durationMs: HOUR_MS })
    const options = { withTasks: true, challenge: { ...EASY, check } }
    const { people, bots } = await row(
      '10,000 addresses, solving tasks, then a check',
      [...day(random, 0.9), ...solving],
      options,
    )
    process.stdout.write(`people asked for the check: ${percent(people.checked, people)}\n`)
    expect(bots.hashed).toBeLessThanOrEqual(bots.tries * 0.05)
    expect(people.checked).toBeLessThanOrEqual(people.tries * 0.02)
    expect([people.denied, people.knownDenied]).toEqual([0, 0])
  })
})

test('without a task on the page, an attack that lasts all day challenges unknown devices at unfamiliar addresses', async () => {
  await eachSeed(1, async (random) => {
    const guesses = attacks['10,000 addresses, one guess each, on 500 accounts']
    const slow = attack({ ...guesses, fromMs: DAY_MS, durationMs: DAY_MS })
    // half of the people with unknown devices have logged in at their address before
    const tries = [...day(random, 0.9, 0.5), ...slow]
    const { people, bots } = await row('10,000 addresses in a day, without a task, half familiar', tries, {})
    expect(bots.hashed).toBeLessThanOrEqual(bots.tries * 0.05)
    expect(people.challenged).toBeLessThanOrEqual(people.tries * 0.06)
    expect([people.denied, people.knownChallenged]).toEqual([0, 0])
  })
})

test.each([
  ['on most devices known', 0.9],
  ['when no device is known', 0],
])('on a normal day, nobody is denied and at most 1 %% are challenged, %s', async (name, known) => {
  await eachSeed(1, async (random) => {
    const { people } = await row(`normal day, ${name}`, day(random, known))
    expect(people.denied).toBe(0)
    expect(people.challenged).toBeLessThanOrEqual(people.tries * 0.01)
  })
})

describe.each(Object.entries(attacks).slice(0, numberOfRuns(3)))('%s', (name, guesses) => {
  test('in an hour of a normal day: at most 5 % are hashed, 0.1 % of people denied and 1 % challenged', async () => {
    await eachSeed(1, async (random) => {
      const hour = attack({ ...guesses, fromMs: 1.5 * DAY_MS, durationMs: HOUR_MS })
      const { people, bots } = await row(`${name}, in an hour`, [...day(random, 0.9), ...hour])
      expect(bots.hashed).toBeLessThanOrEqual(bots.tries * 0.05)
      expect(people.denied).toBeLessThanOrEqual(people.tries * 0.001)
      expect(people.challenged).toBeLessThanOrEqual(people.tries * 0.01)
      expect(people.knownDenied).toBe(0)
    })
  })

  test('spread over the day: at most 5 % are hashed, and no known device is denied or challenged', async () => {
    await eachSeed(1, async (random) => {
      const slow = attack({ ...guesses, fromMs: DAY_MS, durationMs: DAY_MS })
      const { people, bots } = await row(`${name}, in a day`, [...day(random, 0.9), ...slow])
      expect(bots.hashed).toBeLessThanOrEqual(bots.tries * 0.05)
      expect(people.denied).toBeLessThanOrEqual(people.tries * 0.001)
      expect(people.challenged).toBeLessThanOrEqual(people.tries * 0.01)
      expect([people.knownDenied, people.knownChallenged]).toEqual([0, 0])
    })
  })

  test('by bots that solve every task: the limits per account and address hold', async () => {
    await eachSeed(1, async (random) => {
      const solving = attack({ ...guesses, client: 'solving bot', fromMs: 1.5 * DAY_MS, durationMs: HOUR_MS })
      const { people, bots } = await row(`${name}, solving tasks`, [...day(random, 0.9), ...solving])
      const accounts = new Set(solving.map(({ account }) => account)).size
      const addresses = new Set(solving.map(({ address }) => address)).size
      expect(bots.hashed).toBeLessThanOrEqual(Math.min(30 * accounts, 200 * addresses))
      expect(people.knownDenied).toBe(0)
    })
  })
})
