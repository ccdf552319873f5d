import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'

interface Record {
  dueMs: number[]
  source: number[]
  lateMs: number[]
  outcome: number[]
  latencyMs: number[]
}

interface Sent {
  readonly atMs: number
  readonly latencyMs?: number
  readonly outcome?: number
  readonly source?: number
  readonly lateMs?: number
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const [SUCCESS, REFUSED, GAVE_UP, OTHER] = [1, 2, 3, 4]

/** Evaluates an expression that uses the exports of modules of the bench, in a process that loads ES modules. */
async function evaluate<T>(modules: readonly string[], expression: string): Promise<T> {
  const imports = modules.map((name, index) => `import * as m${index} from './bench/src/overload/${name}.mjs'`)
  const names = modules.map((_, index) => `...m${index}`).join(', ')
  const code = `${imports.join('\n')}
    const all = { ${names} }
    console.log(JSON.stringify(new Function(...Object.keys(all), 'return ' + ${JSON.stringify(expression)})(...Object.values(all))))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    maxBuffer: 16 << 20,
  })
  return JSON.parse(stdout) as T
}

function recordOf(requests: readonly Sent[]): Record {
  return {
    dueMs: requests.map(({ atMs }) => atMs),
    source: requests.map(({ source = 0 }) => source),
    lateMs: requests.map(({ lateMs = 0 }) => lateMs),
    outcome: requests.map(({ outcome = SUCCESS }) => outcome),
    latencyMs: requests.map(({ latencyMs = 50 }) => latencyMs),
  }
}

/** Requests at equal distances, `perSecond` of them. */
function steady(fromMs: number, toMs: number, perSecond: number, rest: Partial<Sent> = {}): Sent[] {
  const count = ((toMs - fromMs) * perSecond) / 1_000
  return Array.from({ length: count }, (_, index) => ({ atMs: fromMs + (index * 1_000) / perSecond, ...rest }))
}

const judge = <T>(expression: string): Promise<T> => evaluate<T>(['judge', 'timeline'], expression)

describe('the schedule of an open-loop load', () => {
  type Arrivals = { atMs: number; source: number }[]
  const arrivals = (sources: object[], durationMs: number, seed: number): Promise<Arrivals> =>
    evaluate(['load/schedule'], `[...arrivals(${JSON.stringify(sources)}, ${durationMs}, ${seed})]`)

  test('has the rates of its steps, in the order of time, and nothing after its end', async () => {
    const steps = [
      [0, 100],
      [10_000, 400],
      [20_000, 0],
      [30_000, 50],
    ]
    const made = await arrivals([{ rate: steps }], 40_000, 7)
    const times = made.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(times.at(-1)).toBeLessThan(40_000)
    const between = (from: number, to: number): number => times.filter((at) => at >= from && at < to).length
    // four standard deviations of a Poisson process
    expect(Math.abs(between(0, 10_000) - 1_000)).toBeLessThan(4 * Math.sqrt(1_000))
    expect(Math.abs(between(10_000, 20_000) - 4_000)).toBeLessThan(4 * Math.sqrt(4_000))
    expect(between(20_000, 30_000)).toBe(0)
    expect(Math.abs(between(30_000, 40_000) - 500)).toBeLessThan(4 * Math.sqrt(500))
  })

  test('is the same for the same seed, and each source is independent of the others', async () => {
    const [first, second] = [{ rate: [[0, 50]] }, { rate: [[0, 20]] }]
    const [one, again, other, alone] = await Promise.all([
      arrivals([first, second], 5_000, 1),
      arrivals([first, second], 5_000, 1),
      arrivals([first, second], 5_000, 2),
      arrivals([first], 5_000, 1),
    ])
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
    expect(one.filter(({ source }) => source === 0)).toEqual(alone)
  })

  test('of a source without a rate is empty', async () => {
    expect(await arrivals([{ rate: [[0, 0]] }], 5_000, 1)).toEqual([])
  })
})

describe('the judge', () => {
  test('counts as goodput only what was answered with success within a second', async () => {
    const record = recordOf([
      { atMs: 0 },
      { atMs: 1, latencyMs: 1_001 },
      { atMs: 2, outcome: REFUSED },
      { atMs: 3, outcome: GAVE_UP, latencyMs: 5_000 },
      { atMs: 4, outcome: OTHER },
      { atMs: 500 },
    ])
    expect(await judge(`totalsOf(${JSON.stringify(record)}, { toMs: 500 })`)).toEqual({
      ...{ sent: 5, admitted: 4, good: 1, refused: 1, failed: 1, answered: 2 },
      ...{ p50: 1_001, p99: 1_001 },
    })
  })

  test('compares goodput with the load, or with the capacity if the load is higher', async () => {
    const half = recordOf([...steady(0, 1_000, 60), ...steady(0, 1_000, 60, { outcome: REFUSED })])
    const share = (perSecond: number): Promise<number> =>
      judge(`goodputShare(${JSON.stringify(half)}, { fromMs: 0, toMs: 1000, perSecond: ${perSecond} })`)
    expect(await share(80)).toBeCloseTo(60 / 80)
    expect(await share(1_000)).toBeCloseTo(60 / 120)
  })

  test('finds when a stage has settled, and returns its length if it never does', async () => {
    const stage = { fromMs: 1_000, toMs: 4_000, perSecond: 200 }
    const record = recordOf([
      ...steady(1_000, 1_700, 100, { latencyMs: 900 }),
      ...steady(1_700, 4_000, 100, { latencyMs: 60 }),
    ])
    const settled = (mostMs: number): Promise<number> =>
      judge(
        `settledAfterMs(${JSON.stringify(record)}, ${JSON.stringify(stage)}, { windowMs: 500, mostMs: ${mostMs}, bucketMs: 100 })`,
      )
    expect(await settled(100)).toBe(700)
    expect(await settled(50)).toBe(3_000)
  })

  test('divides a run where its load or its service changes, with what was possible in each stage', async () => {
    const scenario = {
      durationMs: 40_000,
      sources: [{ rate: [[0, 100]] }],
      service: {
        workers: 12,
        serviceMs: [
          [0, 50],
          [20_000, 150],
        ],
      },
    }
    expect(await judge(`stagesOf(${JSON.stringify(scenario)})`)).toEqual([
      { fromMs: 1_000, toMs: 20_000, serviceMs: 50, perSecond: 240 },
      { fromMs: 20_000, toMs: 40_000, serviceMs: 150, perSecond: 80 },
    ])
  })

  test('declares a run invalid if more than one request in a hundred was sent late', async () => {
    const isValid = (late: number): Promise<boolean> => {
      const record = recordOf([...steady(0, 1_000, 100 - late), ...steady(0, 1_000, late, { lateMs: 21 })])
      return judge(`punctuality(${JSON.stringify(record)}).isValid`)
    }
    expect([await isValid(1), await isValid(2)]).toEqual([true, false])
  })
})
