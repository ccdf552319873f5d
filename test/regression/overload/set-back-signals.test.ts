import { expect, test } from '@jest/globals'
import { adaptiveThrottle, createShedder } from '@sluice/overload'
import { SteppedClock } from './stepped-clock.ts'

/** Sends requests every few milliseconds. */
function pass(clock: SteppedClock, ms: number, request: () => void): void {
  for (let passed = 0; passed < ms; passed += 4) {
    clock.advance(4)
    request()
  }
}

// regression: the health check did not run again until the clock had caught up
test('a process that is healthy again admits requests although the clock was set back', () => {
  const clock = new SteppedClock()
  let isHealthy = false
  const shedder = createShedder({ clock, health: () => isHealthy, eventLoopDelayMs: false })
  pass(clock, 200, () => shedder.admits())
  expect(shedder.admits('high')).toBe(false)
  clock.setBack()
  isHealthy = true
  pass(clock, 10_000, () => shedder.admits())
  expect(shedder.pressure).toBe(0)
  shedder.close()
})

// regression: the negative time since the last beat made the recent load infinite, so everything was refused
test('an event loop without delay causes no pressure although the clock was set back', () => {
  const clock = new SteppedClock()
  const shedder = createShedder({ clock })
  pass(clock, 400, () => shedder.admits())
  clock.setBack()
  pass(clock, 4_000, () => shedder.admits())
  expect(shedder.pressure).toBe(0)
  shedder.close()
})

function upstream(clock: SteppedClock, headers: Record<string, string> = {}) {
  const server = { status: 503 }
  const answer = async (_url: string): Promise<Response> => new Response('', { status: server.status, headers })
  const call = adaptiveThrottle(answer, { clock, retries: 0, random: () => 0 })
  return { server, statusOf: async (): Promise<number> => (await call('http://upstream.test/')).status }
}

// regression: no request was sent until the clock had caught up
test('an upstream that asked for a second without requests receives requests although the clock was set back', async () => {
  const clock = new SteppedClock()
  const { server, statusOf } = upstream(clock, { 'retry-after': '1' })
  expect(await statusOf()).toBe(503)
  clock.setBack()
  await expect(statusOf()).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
  clock.advance(1_000)
  server.status = 200
  expect(await statusOf()).toBe(200)
})

// regression: refused requests were not forgotten until the clock had caught up
test('refused requests are forgotten although the clock was set back', async () => {
  const clock = new SteppedClock()
  const { server, statusOf } = upstream(clock)
  for (let request = 0; request < 100; request++) await statusOf().catch(() => {})
  clock.setBack()
  await expect(statusOf()).rejects.toMatchObject({ code: 'SLUICE_THROTTLED' })
  server.status = 200
  clock.advance(300_000)
  for (let request = 0; request < 10; request++) expect(await statusOf()).toBe(200)
})
