import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { bundle } from './bundle.ts'
import type { Outcome } from './programs/collected-tests.ts'
import { type RunningWorker, startWorker } from './workerd.ts'

const TIMEOUT_MS = 120_000
const WORKERS = 8

let worker: RunningWorker

beforeAll(async () => {
  const { text } = await bundle('programs/d1-rows.ts', { external: ['node:*', 'cloudflare:*'] })
  worker = await startWorker({ text, database: true, workers: WORKERS })
}, TIMEOUT_MS)
afterAll(() => worker.stop())

async function answerOf<T>(path: string, url = worker.url): Promise<T> {
  const response = await fetch(url + path)
  const text = await response.text()
  if (!response.ok) throw new Error(`${text}\n${worker.output()}`)
  return JSON.parse(text) as T
}

describe('d1Store', () => {
  test(
    'fulfils the contracts of stores and of backends in workerd',
    async () => {
      const { passed, failed } = await answerOf<Outcome>('/contracts')
      expect(failed).toEqual([])
      expect(passed).toBeGreaterThan(45)
    },
    TIMEOUT_MS,
  )

  test(
    'admits exactly the limit of 8 Workers with 200 takes at once',
    async () => {
      const admitted = worker.urls.map((url) => answerOf<number>('/take?count=200&limit=700', url))
      expect((await Promise.all(admitted)).reduce((sum, one) => sum + one)).toBe(700)
    },
    TIMEOUT_MS,
  )

  test('treats a row that has expired like one that does not exist', async () => {
    expect(await answerOf('/expired')).toEqual([true, false, true])
  })

  test('deletes expired rows while others are written', async () => {
    expect(await answerOf<number>('/sweep?expired=60&fresh=40')).toBeLessThan(60)
  })

  test.each([
    ['never answers', 'LATE'],
    ['reports an error', 'STORE'],
    ['answers something else', 'STORE'],
  ])('fails in time, and counts nothing, if the database %s', async (way, code) => {
    expect(await answerOf(`/failure?way=${encodeURIComponent(way)}`)).toEqual([code, 3])
  })
})

describe('a limit in the global scope of 4 Workers', () => {
  const CALLERS = 16
  const REQUESTS = 10
  const LIMIT = 200
  let limited: RunningWorker

  beforeAll(async () => {
    const { text } = await bundle('programs/d1-limit-worker.ts', { external: ['node:*', 'cloudflare:*'] })
    limited = await startWorker({ text, database: true, workers: 4 })
    await fetch(`${limited.url}/migrate`)
  }, TIMEOUT_MS)
  afterAll(() => limited.stop())

  /** Sends the requests of a client, and returns their statuses. Every `leavesAfter`-th request is given up. */
  async function statusesOf(client: string, leavesAfter: number): Promise<Readonly<Record<string, number>>> {
    const statuses: Record<string, number> = {}
    const call = async (url: string, index: number): Promise<void> => {
      const leaving = new AbortController()
      const response = fetch(url, { headers: { 'cf-connecting-ip': client }, signal: leaving.signal })
      if (index % leavesAfter === 0) setImmediate(() => leaving.abort())
      const status = await response.then((answer) => answer.status).catch(() => 'left')
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    const caller = async (url: string): Promise<void> => {
      for (let index = 1; index <= REQUESTS; index++) await call(url, index)
    }
    await Promise.all(limited.urls.flatMap((url) => Array.from({ length: CALLERS }, () => caller(url))))
    return statuses
  }

  test(
    'admits exactly the limit of requests at once',
    async () => {
      expect(await statusesOf('192.0.2.1', Number.POSITIVE_INFINITY)).toEqual({ 200: LIMIT, 429: 440 })
    },
    TIMEOUT_MS,
  )

  test(
    'answers the other requests in time if clients leave',
    async () => {
      const { 200: admitted, ...others } = await statusesOf('192.0.2.2', 5)
      expect(admitted).toBeLessThanOrEqual(LIMIT)
      expect(others).toEqual({ 429: 512 - admitted, left: 128 })
      expect(limited.output()).not.toMatch(/hung|exception/i)
    },
    TIMEOUT_MS,
  )
})
