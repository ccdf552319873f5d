import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, test } from '@jest/globals'
import { inflightLimit as fetchLimit } from '@sluice/fetch'
import { inflightLimit as honoLimit } from '@sluice/hono'
import type { InflightLimitOptions } from '@sluice/node-http'
import { createPrioritizer } from '@sluice/overload'
import { FakeClock, until } from '@sluice/testkit'
import { Hono } from 'hono'
import { frameworks } from '../leaks/frameworks/frameworks.ts'
import { close, listen, type Running } from './listening.ts'

type Options = Omit<InflightLimitOptions<IncomingMessage, ServerResponse>, 'key' | 'skip'>
interface Capped {
  readonly listener: RequestListener
  readonly closeCap: () => void
}
type Build = (options: Options, work: () => Promise<void>) => Capped

const builders: Readonly<Record<string, Build>> = {
  ...Object.fromEntries(
    Object.entries(frameworks).map(([name, { inflightLimit, listener }]): [string, Build] => [
      name,
      (options, work) => {
        const cap = inflightLimit(options)
        const handler = (_req: IncomingMessage, res: ServerResponse): void => void work().then(() => res.end('done'))
        return { listener: listener(cap, handler), closeCap: () => cap.close() }
      },
    ]),
  ),
  fetch: (options, work) => {
    const cap = fetchLimit(options as never)
    const handler = cap.wrap(() => work().then(() => new Response('done')))
    return { listener: getRequestListener((request) => handler(request)), closeCap: () => cap.close() }
  },
  Hono: (options, work) => {
    const cap = honoLimit(options as never)
    const app = new Hono().use(cap).get('/', (c) => work().then(() => c.text('done')))
    return { listener: getRequestListener(app.fetch), closeCap: () => cap.close() }
  },
}

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await close(one)
})

/** A server whose requests wait until the test finishes them. */
async function serve(build: Build, options: Partial<Options>) {
  const works: (() => void)[] = []
  const work = (): Promise<void> => new Promise((resolve) => void works.push(resolve))
  let received = 0
  const limit = { limit: 1, priority: { header: 'x-priority' }, skip: () => ++received < 0, ...options }
  const { listener, closeCap } = build(limit as Options, work)
  const started = await listen(listener)
  running.push(started)
  const ask = (priority = 'normal'): Promise<Response> =>
    fetch(started.url, { headers: { 'x-priority': priority, connection: 'close' } })
  // in a list, because an async function would wait for the answer
  const sent = async (): Promise<readonly [Promise<Response>]> => {
    const before = received
    const answer = ask()
    await until(() => received > before)
    return [answer]
  }
  return { ...started, works, closeCap, ask, sent }
}

describe.each(Object.entries(builders))('%s', (_name, build) => {
  test('answers the requests that wait when their cap is closed, and others do not wait', async () => {
    const clock = new FakeClock()
    const { works, closeCap, ask, sent } = await serve(build, { clock, queue: { max: 9, maxWaitMs: '1h' } })
    const [first] = await sent()
    const waiting = [...(await sent()), ...(await sent())]
    closeCap()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([503, 503])
    expect([(await ask()).status, clock.pending, works.length]).toEqual([503, 0, 1])
    works[0]()
    expect((await first).status).toBe(200)
  })

  test('answers the requests that wait while the server closes', async () => {
    const clock = new FakeClock()
    const { server, works, sent } = await serve(build, { clock, queue: { max: 9, maxWaitMs: '1h' } })
    const [first] = await sent()
    const [second] = await sent()
    const [third] = await sent()
    const closed = new Promise((resolve) => server.close(resolve))
    works[0]()
    await until(() => works.length === 2)
    clock.advance(3_600_000)
    works[1]()
    await closed
    expect([(await first).status, (await second).status, (await third).status]).toEqual([200, 200, 503])
    expect([works.length, clock.pending]).toEqual([2, 0])
    // nothing is left to close
    running.splice(0)
  })

  test.each([true, false])(
    'refuses at one cap what overloads another one, if they share a prioritizer: %p',
    async (isShared) => {
      const clock = new FakeClock()
      const prioritizer = isShared ? createPrioritizer({ clock }) : undefined
      const reports = await serve(build, { clock, prioritizer, name: 'reports' })
      const pages = await serve(build, { clock, prioritizer, name: 'pages', limit: 3 })
      const [report] = await reports.sent()
      expect((await reports.ask('critical')).status).toBe(503)
      clock.advance(100)
      const [page] = await pages.sent()
      const low = pages.ask('low')
      if (isShared) expect((await low).status).toBe(503)
      else await until(() => pages.works.length === 2)
      expect(prioritizer?.isOverloaded ?? false).toBe(isShared)
      const critical = pages.ask('critical')
      await until(() => pages.works.length === (isShared ? 2 : 3))
      for (const finish of [...reports.works, ...pages.works]) finish()
      const answers = await Promise.all([report, page, critical, ...(isShared ? [] : [low])])
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    },
  )
})
