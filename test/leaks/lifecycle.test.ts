import { type IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { LimiterReport, Observers } from '@sluice/limiter-core/http'
import { createInflightLimiter, type Permit } from '@sluice/node-http'
import { type Ending, RequestLifecycle } from '@sluice/node-http/adapter'
import { until, Warnings } from '@sluice/testkit'
import { CappedServer } from './capped-server.ts'
import type { Handler } from './framework.ts'
import { frameworks } from './frameworks.ts'
import { GET } from './raw-client.ts'

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const report = new LimiterReport(new Observers(), () => ['inflight'])

/** One request that is answered by `handler`, from its head to the end of its response. */
async function answered(handler: Handler): Promise<void> {
  const capped = await CappedServer.of(frameworks['node:http'], handler)
  const client = await capped.entering(GET)
  await client.hears('\r\n\r\n')
  await capped.allReleased(1)
  await capped.close()
}

test('a listener to the end of a response that throws silences no other one and keeps no place', async () => {
  const endings: Ending[] = []
  await answered((req, res) => {
    const life = RequestLifecycle.of(req, res)
    life.onEnd(() => {
      throw new Error('a listener of the application')
    })
    life.onEnd((ending) => endings.push(ending))
    res.end()
  })
  expect(endings).toEqual([{ completed: true, durationMs: expect.any(Number) }])
  expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
})

test('a listener that comes after the end is told at once', async () => {
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

test('a place that is held after the end goes straight back', async () => {
  const inflight = createInflightLimiter({ limit: 1 })
  let life: RequestLifecycle | undefined
  await answered((req, res) => {
    life = RequestLifecycle.of(req, res)
    res.end()
  })
  life?.hold({ permit: inflight.acquire() as Permit, report })
  expect(inflight.count()).toBe(0)
})

test('a place waits for all work that holds it, also for work that fails', async () => {
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
    life.hold({ permit: inflight.acquire() as Permit, report })
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

test('a response of HTTP/2 whose stream is gone is none that anybody reads; one of HTTP/1 that no socket carries is', () => {
  for (const [httpVersionMajor, gone] of [
    [2, true],
    [1, false],
  ] as const) {
    const req = { socket: undefined, httpVersionMajor, method: 'GET' } as unknown as IncomingMessage
    expect(RequestLifecycle.of(req, new ServerResponse(req)).gone).toBe(gone)
  }
})
