import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../services/eventually.ts'
import { bundle } from './bundle.ts'
import { type RunningWorker, startWorker } from './workerd.ts'

const LIMIT = 10_000

interface Decided {
  readonly source: string
  readonly counted: boolean
  readonly allowed: boolean
  readonly remaining: number
}

let worker: RunningWorker

beforeEach(async () => {
  const { text } = await bundle('programs/faulty-limit-worker.ts', { external: ['node:*', 'cloudflare:*'] })
  worker = await startWorker({ text, objects: { sql: true } })
})

afterEach(() => worker.stop())

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(worker.url + path)
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}\n${worker.output()}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

// an object that hangs answers only after it was repaired, so that an answer before then is one of the failure rule
describe('while a Durable Object fails, the failure rule answers, and afterwards all units are counted', () => {
  test.each(['throws', 'hangs'])('the object %s', async (fault) => {
    let allowed = 0
    const take = async (): Promise<Decided> => {
      const decided = await ask<Decided>('/hour')
      if (decided.allowed) allowed++
      return decided
    }
    const isCounted = async (): Promise<boolean> => {
      const { source, counted } = await take()
      return counted && source === 'durable-object'
    }
    await eventually(isCounted, { what: 'a decision of the object' })
    await ask(`/fault/${fault}`)
    // overlapping requests, each of which ends before the next: none may rely on a timer of another
    const overlapping: Promise<Decided>[] = []
    for (let request = 0; request < 20; request++) {
      overlapping.push(take())
      await ask(`/fault/${fault}`)
    }
    await Promise.all(overlapping)
    await eventually(async () => (await Promise.all([take(), take(), take()])).every(({ counted }) => !counted), {
      what: 'decisions of the failure rule',
    })
    for (let round = 0; round < 50; round++) {
      for (const { counted, source } of await Promise.all([take(), take(), take()])) {
        expect({ counted, source }).toEqual({ counted: false, source: 'local' })
      }
    }
    await ask('/fault/none')
    await eventually(isCounted, { what: 'a decision of the object after it was repaired' })
    await eventually(async () => (await take()).remaining === LIMIT - allowed, {
      what: 'a count of all admitted units',
    })
  })
})

test('clients that leave while the object hangs do not keep its decisions from coming back', async () => {
  const isCounted = async (): Promise<boolean> => (await ask<Decided>('/hour')).counted
  await eventually(isCounted, { what: 'a decision of the object' })
  await ask('/fault/hangs')
  const leave = async (): Promise<void> => {
    const leaving = new AbortController()
    const request = fetch(`${worker.url}/hour`, { signal: leaving.signal }).catch(() => {})
    await ask('/fault/hangs')
    leaving.abort()
    await request
  }
  for (let round = 0; round < 40; round++) await leave()
  await eventually(async () => !(await isCounted()), { what: 'a decision of the failure rule' })
  for (let round = 0; round < 40; round++) await leave()
  await ask('/fault/none')
  // some of these are the trials of the breaker
  for (let round = 0; round < 200; round++) await leave().then(() => ask('/fault/none'))
  await eventually(isCounted, { what: 'a decision of the object after it was repaired' })
})

test('expired counts are deleted by the alarm of the object, and the others stay', async () => {
  const stored = (): Promise<{ names: string[]; alarm: number | null }> => ask('/entries')
  await ask('/hour?key=a')
  const seen = await Promise.all(
    Array.from({ length: 200 }, async (_, key) => {
      await ask(`/short?key=${key}`)
      // on a busy machine, the alarm deletes the first of them before the last one is stored
      return stored()
    }),
  )
  let most = Math.max(...seen.map(({ names }) => names.length))
  await eventually(
    async () => {
      if (most <= 2) await ask('/short?key=late')
      most = Math.max(most, (await stored()).names.length)
      return most > 2
    },
    { what: 'a stored count' },
  )
  expect(seen.some(({ alarm }) => alarm)).toBe(true)
  await eventually(
    async () => {
      await ask('/ring')
      return (await stored()).names.length === 2
    },
    { what: 'a deletion of expired counts' },
  )
  const { names } = await stored()
  expect(names.map((name) => name.replace(/^(c:).*\/hour\/.* /, '$1 hour '))).toEqual(['c: hour a', 's:created'])
  await eventually(async () => ((await stored()).alarm ?? 0) > Date.now() + 30 * 60_000, { what: 'the next alarm' })
  expect((await ask<Decided>('/hour?key=a')).remaining).toBe(LIMIT - 2)
})
