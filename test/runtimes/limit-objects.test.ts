import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { memoryFolder } from '../services/memory-folder.ts'
import { bundle } from './bundle.ts'
import type { Outcome } from './programs/collected-tests.ts'
import { type RunningWorker, startWorker, type WorkerOptions } from './workerd.ts'

const TIMEOUT_MS = 120_000
/** Callers per Worker at once. */
const CALLERS = 32

async function withObjects<T>(
  entry: string,
  options: Omit<WorkerOptions, 'text'>,
  run: (worker: RunningWorker) => Promise<T>,
): Promise<T> {
  const { text } = await bundle(entry, { external: ['node:*', 'cloudflare:*'] })
  const worker = await startWorker({ text, ...options })
  try {
    return await run(worker)
  } catch (error) {
    throw new Error(`${error}\n${worker.output()}`)
  } finally {
    await worker.stop()
  }
}

/** Sends requests of one client to all URLs, and returns the number of responses of each status. */
async function statusesOf(urls: readonly string[], requestsEach: number): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {}
  const ask = async (url: string, requests: number): Promise<void> => {
    for (let request = 0; request < requests; request++) {
      const response = await fetch(url, { headers: { 'cf-connecting-ip': '192.0.2.1' } })
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  const callers = urls.flatMap((url) => Array.from({ length: CALLERS }, (_, index) => ({ url, index })))
  const shareOf = (index: number): number => Math.floor((requestsEach + CALLERS - 1 - index) / CALLERS)
  await Promise.all(callers.map(({ url, index }) => ask(url, shareOf(index))))
  return statuses
}

const storages = [
  ['SQLite', true],
  ['key-value', false],
] as const

// the storage of Durable Objects that are new
describe.each(storages.slice(0, numberOfRuns(storages.length)))('Durable Objects with %s storage', (_, sql) => {
  test(
    'durableObjectBackend fulfils the backend contract in workerd',
    async () => {
      await withObjects('programs/limit-objects.ts', { objects: { sql } }, async ({ url }) => {
        const { passed, failed } = (await (await fetch(url)).json()) as Outcome
        expect(failed).toEqual([])
        expect(passed).toBeGreaterThan(20)
      })
    },
    TIMEOUT_MS,
  )
})

test(
  'four Workers with 1,000 requests each together admit exactly the limit of 1,000',
  async () => {
    const options = { objects: { sql: true }, workers: 4 }
    await withObjects('programs/shared-limit-worker.ts', options, async ({ urls }) => {
      const statuses = await statusesOf(
        urls.map((url) => `${url}/fast`),
        1_000,
      )
      expect(statuses).toEqual({ 200: 1_000, 429: 3_000 })
    })
  },
  TIMEOUT_MS,
)

test(
  'a limit with `durable` keeps its counts when the runtime is killed',
  async () => {
    const folder = memoryFolder('sluice-objects-')
    mkdirSync(join(folder, 'limits'))
    const admitted = (requests: number): Promise<Readonly<Record<string, number>>> =>
      withObjects('programs/shared-limit-worker.ts', { objects: { sql: true, folder } }, ({ url }) =>
        statusesOf([`${url}/durable`], requests),
      )
    try {
      expect(await admitted(700)).toEqual({ 200: 700 })
      expect(await admitted(700)).toEqual({ 200: 300, 429: 400 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  TIMEOUT_MS,
)
