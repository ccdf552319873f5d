import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { Plugin } from 'esbuild'
import { root } from '../repository.ts'
import { bundle } from './bundle.ts'
import type { Outcome } from './programs/collected-tests.ts'
import { type RunningWorker, startWorker } from './workerd.ts'

const TIMEOUT_MS = 120_000

/** Conditions of Cloudflare's own tools. */
const CONDITIONS = ['workerd', 'worker', 'browser', 'import', 'default']

/** The client of the contract uses sockets, which a Worker cannot listen on. */
const clientInWorker: Plugin = {
  name: 'client',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/client\.ts$/ }, () => ({ path: join(root, 'test/runtimes/programs/worker-client.ts') }))
    // the build of the package replaces it, too
    onResolve({ filter: /\/node-crypto\.ts$/ }, ({ resolveDir }) => ({
      path: join(resolveDir, 'crypto/web-crypto.ts'),
    }))
  },
}

async function withWorker<T>(started: Promise<RunningWorker>, run: (worker: RunningWorker) => Promise<T>): Promise<T> {
  const worker = await started
  try {
    return await run(worker)
  } finally {
    await worker.stop()
  }
}

describe('workerd', () => {
  test(
    'passes the contract of adapters with @sluice/fetch and @sluice/hono',
    async () => {
      const { text } = await bundle('programs/worker.ts', {
        conditions: ['@sluice/source', ...CONDITIONS],
        plugins: [clientInWorker],
      })
      const started = startWorker({ text, compatibilityFlags: ['nodejs_compat'] })
      const { passed, failed } = await withWorker(started, async (worker) => {
        const response = await fetch(worker.url)
        return (await response.json()) as Outcome
      })
      expect(failed).toEqual([])
      expect(passed).toBeGreaterThan(280)
    },
    TIMEOUT_MS,
  )

  // before 2025-05-05, Workers have neither FinalizationRegistry nor WeakRef
  const dates = ['2023-01-01', '2024-09-22', '2025-05-04', '2025-05-05', '2026-11-01']
  test.each(dates)('limits a Worker of %s with limits in the global scope, without Node.js', async (date) => {
    const { text, metafile } = await bundle('programs/limited-worker.ts', { conditions: CONDITIONS, external: [] })
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    await withWorker(startWorker({ text, compatibilityDate: date }), async ({ url, output }) => {
      const ask = (path: string, address: string) => fetch(url + path, { headers: { 'cf-connecting-ip': address } })
      const answers = []
      for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
        const { status, headers } = await ask('/', address)
        answers.push([status, headers.get('ratelimit')?.split(';pk')[0], headers.get('retry-after')])
      }
      expect(answers).toEqual([
        [200, '"all";r=2;t=60', null],
        [200, '"all";r=1;t=60', null],
        [200, '"all";r=0;t=60', null],
        [429, '"all";r=0;t=60', '60'],
        [200, '"all";r=2;t=60', null],
      ])
      expect((await ask('/slow', '192.0.2.3')).status).toBe(200)
      expect(output()).not.toMatch(/error|warn/i)
    })
  })

  test('limits requests of a Worker whose limit counts in Durable Objects, without Node.js', async () => {
    const external = ['cloudflare:workers']
    const { text, metafile } = await bundle('programs/shared-limit-without-node.ts', {
      conditions: CONDITIONS,
      external,
    })
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path))
    expect([...new Set(imports)]).toEqual(external)
    const compatibilityFlags = ['no_nodejs_compat', 'no_nodejs_compat_v2']
    await withWorker(startWorker({ text, compatibilityFlags, objects: { sql: true } }), async ({ url, output }) => {
      const ask = (path: string) => fetch(url + path, { headers: { 'cf-connecting-ip': '192.0.2.1' } })
      const statuses = []
      for (let request = 0; request < 4; request++) statuses.push((await ask('/')).status)
      expect(statuses).toEqual([200, 200, 200, 429])
      expect(await (await ask('/?forgotten')).text()).toMatch(/waitUntil: expected the waitUntil of cloudflare:workers/)
      expect(output()).not.toMatch(/error|warn/i)
    })
  })
})
