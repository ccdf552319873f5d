import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import * as ofExpress from '@sluice/express'
import * as ofNode from '@sluice/node-http'
import { FakeClock } from '@sluice/testkit'

type Middleware = (req: IncomingMessage, res: ServerResponse, next: () => void) => void
type Response = EventEmitter & { statusCode?: number; body?: unknown; headers?: Record<string, unknown> }

/** Objects that tests of applications pass as responses. */
const responses: readonly (readonly [name: string, make: () => Response])[] = [
  ['a bare event emitter', () => new EventEmitter()],
  [
    'an event emitter with a status, headers and end',
    () =>
      Object.assign(new EventEmitter(), {
        statusCode: 200,
        headers: {} as Record<string, unknown>,
        setHeader(this: Response, name: string, value: unknown) {
          if (this.headers) this.headers[name.toLowerCase()] = value
        },
        getHeader(this: Response, name: string) {
          return this.headers?.[name.toLowerCase()]
        },
        end(this: Response, body: unknown) {
          this.body = body
          this.emit('finish')
        },
      }),
  ],
]

const request = (): IncomingMessage =>
  Object.assign(new EventEmitter(), {
    method: 'GET',
    url: '/',
    headers: { 'x-api-key': 'ann' },
    ip: '203.0.113.7',
    app: { get: () => false },
    socket: { remoteAddress: '203.0.113.7' },
  }) as unknown as IncomingMessage

const cases = [ofNode, ofExpress].flatMap((module, index) =>
  responses.map(
    ([name, make]) => [`${['node:http', 'Express'][index]}, ${name}`, module as typeof ofNode, make] as const,
  ),
)

test.each(cases)('%s: a limiter allows and denies', async (_name, { rateLimit, byHeader }, make) => {
  for (const key of [undefined, async () => 'ann', byHeader('x-api-key')]) {
    const limit = rateLimit({ limit: 1, window: '1m', ...(key && { key }) }) as unknown as Middleware
    const seen: (number | undefined)[] = []
    for (let time = 0; time < 3; time++) {
      const res = make()
      let passed = 0
      limit(request(), res as unknown as ServerResponse, () => passed++)
      await new Promise(setImmediate)
      seen.push(passed > 0 ? 200 : res.statusCode)
    }
    expect(seen).toEqual([200, 429, 429])
  }
})

test.each(cases)('%s: a cap holds its place until the response ends', (_name, { inflightLimit }, make) => {
  for (const end of ['finish', 'close']) {
    const cap = inflightLimit({ limit: 1 })
    const limit = cap as unknown as Middleware
    let passed = 0
    const [first, second] = [make(), make()]
    limit(request(), first as unknown as ServerResponse, () => passed++)
    limit(request(), second as unknown as ServerResponse, () => passed++)
    expect([passed, second.statusCode, cap.limiter.count()]).toEqual([1, 503, 1])
    first.emit(end)
    expect(cap.limiter.count()).toBe(0)
  }
})

test.each(cases)('%s: a delayed request continues after its delay', async (_name, { slowDown }, make) => {
  const clock = new FakeClock()
  const slow = slowDown({ after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s', clock })
  let passed = 0
  ;(slow as unknown as Middleware)(request(), make() as unknown as ServerResponse, () => passed++)
  await new Promise(setImmediate)
  expect([passed, slow.waiting()]).toEqual([0, 1])
  clock.advance(1_000)
  await new Promise(setImmediate)
  expect([passed, slow.waiting()]).toEqual([1, 0])
})
