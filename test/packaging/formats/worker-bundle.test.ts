import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { build } from 'esbuild'
import { root } from '../../repository.ts'

/** KB (1,000 bytes) of a Worker whose Hono app has a limit in memory, minified and compressed, without Hono. */
const MOST_KB = 83
const APP = `
  import { Hono } from 'hono'
  import { rateLimit } from '@sluice/hono'
  const app = new Hono()
  app.use(rateLimit({ limit: 10, window: '1m' }))
  app.get('/', (c) => c.text('hello'))
  export default app`

function bundled(minify: boolean): Promise<string> {
  return build({
    stdin: { contents: APP, resolveDir: root },
    bundle: true,
    minify,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['hono'],
    write: false,
  }).then(({ outputFiles }) => outputFiles[0].text)
}

describe('a Worker with a rate limit of @sluice/hono', () => {
  test('is small', async () => {
    const kb = gzipSync(await bundled(true), { level: 9 }).length / 1000
    process.stdout.write(`a Worker with @sluice/hono: ${kb.toFixed(1)} KB gzipped, budget ${MOST_KB} KB\n`)
    expect(kb).toBeLessThanOrEqual(MOST_KB)
  })

  test('contains no caps, slow-downs, load shedding, priorities and layers of routes', async () => {
    const classes = (await bundled(false)).match(/(?<=class )[A-Z]\w+|[A-Z]\w+(?= = class)/g)
    expect(classes).toEqual(expect.arrayContaining(['HonoExchange', 'RateGate', 'RequestRecord']))
    const unused =
      /^(InflightGate|BackedInflightLimiter|SlowDownGate|ShedGate|HealthShedder|Prioritized\w*|LimitLayer)$/
    expect(classes?.filter((name) => unused.test(name))).toEqual([])
  })
})
