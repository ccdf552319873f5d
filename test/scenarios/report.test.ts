import { describe, expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/express'
import { until } from '@sluice/testkit'
import express from 'express'
import { type Gate, gate, impatient, served } from './served.ts'

/** An app whose reports finish when the test decides. */
function reports(options: { wrapped?: boolean } = {}) {
  const cap = inflightLimit({ name: 'report', limit: 2 })
  const running: Gate[] = []
  let most = 0
  const report = async (_req: express.Request, res: express.Response): Promise<void> => {
    const done = gate()
    running.push(done)
    most = Math.max(most, cap.limiter.count() as number)
    await done.opened
    if (!res.destroyed) res.send('a report')
  }
  const app = express()
  if (options.wrapped) app.get('/report', cap.wrap(report as Parameters<typeof cap.wrap>[0]))
  else app.get('/report', cap, report)
  return { app, running, held: () => cap.limiter.count() as number, most: () => most }
}

describe('a report route that must not run more than twice', () => {
  test('runs two, denies the third at once, and admits it when a permit is free', async () => {
    const { app, running, held } = reports()
    await served(app, async (url) => {
      const first = fetch(`${url}/report`)
      const second = fetch(`${url}/report`)
      await until(() => running.length === 2, { what: 'two reports run' })
      const third = await fetch(`${url}/report`)
      expect(third.status).toBe(503)
      expect(third.headers.get('retry-after')).toBe('1')
      expect(third.headers.get('ratelimit-policy')).toBe('"report";q=2;qu="concurrent-requests"')
      expect(await third.json()).toMatchObject({ status: 503, 'violated-policies': ['report'] })
      running[0].open()
      expect((await first).status).toBe(200)
      await until(() => held() === 1, { what: 'the place came back' })
      const fourth = fetch(`${url}/report`)
      await until(() => running.length === 3, { what: 'the third report runs' })
      for (const one of running) one.open()
      expect([(await second).status, (await fourth).status]).toEqual([200, 200])
      await until(() => held() === 0, { what: 'all places came back' })
    })
  })

  test('a hundred at once: never more than two run, and no permit is lost', async () => {
    const { app, running, held, most } = reports()
    await served(app, async (url) => {
      const statuses: number[] = []
      const asked = Array.from({ length: 100 }, () =>
        fetch(`${url}/report`).then(({ status }) => {
          statuses.push(status)
        }),
      )
      await until(() => statuses.length === 98, { what: 'all but two are answered' })
      expect(new Set(statuses)).toEqual(new Set([503]))
      for (const one of running) one.open()
      await Promise.all(asked)
      expect(statuses.filter((status) => status === 200)).toHaveLength(2)
      expect(most()).toBe(2)
      await until(() => held() === 0, { what: 'all places came back' })
    })
  })

  test('a client that disconnects releases its permit', async () => {
    const { app, running, held } = reports()
    await served(app, async (url) => {
      const clients = [impatient(`${url}/report`), impatient(`${url}/report`)]
      await until(() => running.length === 2, { what: 'two reports run' })
      for (const client of clients) client.destroy()
      await until(() => held() === 0, { what: 'both places came back' })
      for (const one of running) one.open()
    })
  })

  test('wrapped, a report whose client has disconnected keeps its permit until it is done', async () => {
    const { app, running, held } = reports({ wrapped: true })
    await served(app, async (url) => {
      const client = impatient(`${url}/report`)
      await until(() => running.length === 1, { what: 'a report runs' })
      client.destroy()
      const second = fetch(`${url}/report`)
      await until(() => running.length === 2, { what: 'a second report runs' })
      expect(held()).toBe(2)
      expect((await fetch(`${url}/report`)).status).toBe(503)
      for (const one of running) one.open()
      expect((await second).status).toBe(200)
      await until(() => held() === 0, { what: 'both places came back' })
    })
  })
})
