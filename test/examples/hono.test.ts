import { describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { createApp } from '../../examples/hono/src/index.ts'

const FROM = { ip: '192.0.2.1' }

describe('the example on Hono', () => {
  test('limits searches of an address, and admits it again after the Retry-After time', async () => {
    const clock = new FakeClock()
    const app = createApp({ clock })
    const search = () => app.request('/search?q=tea', {}, FROM)
    for (let left = 4; left >= 0; left--) expect(await (await search()).json()).toEqual({ found: ['tea'], left })
    const denied = await search()
    expect([denied.status, denied.headers.get('retry-after')]).toEqual([429, '1'])
    clock.advance(1_000)
    expect((await search()).status).toBe(200)
  })

  test('charges a user for the words that were sent', async () => {
    const app = createApp({ clock: new FakeClock() })
    const ask = async (count: number) => {
      const response = await app.request(`/words?count=${count}`, { headers: { 'x-user': 'anna' } }, FROM)
      await response.text()
      return Number(/"words";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
    }
    expect([await ask(100), await ask(1), await ask(1)]).toEqual([990, 890, 889])
  })

  test('allows two exports of an address at a time', async () => {
    const app = createApp({ clock: new FakeClock() })
    const start = async () => app.request('/export', {}, FROM)
    const [first, second, third] = [await start(), await start(), await start()]
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429])
    expect((await first.text()).split('\n')).toHaveLength(1_001)
    expect((await start()).status).toBe(200)
    await second.body?.cancel()
  })
})
