import { type IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { LimiterReport } from '@sluice/http'
import { Observers } from '@sluice/limiter-core/http'
import { createInflightLimiter, type Permit } from '@sluice/node-http'
import { type Ending, RequestLifecycle } from '@sluice/node-http/adapter'
import { until, Warnings } from '@sluice/testkit'
import { CappedServer } from './capped-server.ts'
import type { Handler } from './frameworks/framework.ts'
import { frameworks } from './frameworks/frameworks.ts'
import { GET } from './raw-client.ts'

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const report = new LimiterReport(new Observers(), () => ['inflight'])

/** Sends one request that `handler` answers, and waits for the end of the response. */
async function answered(handler: Handler): Promise<void> {
  const capped = await CappedServer.of(frameworks['node:http'], handler)
  const client = await capped.entering(GET)
  await client.hears('\r\n\r\n')
  await capped.allReleased(1)
  await capped.close()
}

test('an end-of-response listener that throws does not block other listeners, and its permit is released', async () => {
  const endings: Ending[] = []
  await answered((req, res) => {
    const life = RequestLifecycle.of(req, res)
    life.onEnd(() => {
      throw new Error('a listener of the application')
    })
    life.onEnd((ending) => endings.push(ending))
    res.end()
  })
  expect(endings).toEqual([{ completed: true, durationMs: expect.any(Number), status: 200 }])
  expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
})

test('a listener that is added after the end is called immediately', async () => {
  let life: RequestLifecycle | undefined
  await answered((req, res) => {
    life = RequestLifecycle.of(req, res)
    res.end()
  })
  let heard = 0
  life?.onEnd(({ completed }) => {
    heard += completed ? 1 : 10
  })
  expect([heard, life?.gone]).toEqual([1, true])
})

test('a permit taken after the end is released immediately', async () => {
  const inflight = createInflightLimiter({ limit: 1 })
  let life: RequestLifecycle | undefined
  await answered((req, res) => {
    life = RequestLifecycle.of(req, res)
    res.end()
  })
  life?.holdPermit({ permit: inflight.acquire() as Permit, report })
  expect(inflight.count()).toBe(0)
})

test('a permit is held until all work that uses it is done, including work that fails', async () => {
  const inflight = createInflightLimiter({ limit: 1 })
  let fail = (_error: Error): void => {}
  const failing = new Promise((_resolve, reject) => {
    fail = reject
  })
  let finish = (): void => {}
  const finishing = new Promise<void>((resolve) => {
    finish = resolve
  })
  const capped = await CappedServer.of(frameworks['node:http'], (req, res) => {
    const life = RequestLifecycle.of(req, res)
    life.holdPermit({ permit: inflight.acquire() as Permit, report })
    life.holdUntil(failing)
    life.holdUntil(finishing)
    res.end('ok')
  })
  const client = await capped.entering(GET)
  await client.hears('ok')
  fail(new Error('a fault of the application'))
  await failing.catch(() => {})
  expect([inflight.count(), capped.watcher.held]).toEqual([1, 1])
  finish()
  await until(() => inflight.count() === 0)
  await capped.allReleased(1)
  await capped.close()
})

test('an HTTP/2 response without a stream counts as abandoned; an HTTP/1 response without a socket does not', () => {
  for (const [httpVersionMajor, gone] of [
    [2, true],
    [1, false],
  ] as const) {
    const req = { socket: undefined, httpVersionMajor, method: 'GET' } as unknown as IncomingMessage
    expect(RequestLifecycle.of(req, new ServerResponse(req)).gone).toBe(gone)
  }
})
