import { describe, expect, test } from '@jest/globals'
import { answer } from '../../examples/next/src/index.ts'

const search = (address: string) => answer(new Request('https://shop.example/api/search?q=tea'), address)
const summarise = (address: string) =>
  answer(new Request('https://shop.example/api/summary', { method: 'POST', body: 'a long text' }), address)

describe('the example for Next.js', () => {
  test('limits searches of each address', async () => {
    const first = await search('192.0.2.1')
    expect([first.headers.get('ratelimit'), await first.json()]).toEqual(['"search";r=4;t=10', { found: ['tea'] }])
    const statuses: number[] = []
    for (let asked = 0; asked < 5; asked++) statuses.push((await search('192.0.2.1')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429])
    expect((await search('192.0.2.2')).status).toBe(200)
  })

  test('holds a place until a stream has been read or cancelled', async () => {
    const [one, two, three] = [await summarise('192.0.2.3'), await summarise('192.0.2.3'), await summarise('192.0.2.3')]
    expect([one.status, two.status, three.status]).toEqual([200, 200, 429])
    expect(await one.text()).toBe('a long text ')
    await two.body?.cancel()
    expect([(await summarise('192.0.2.3')).status, (await summarise('192.0.2.3')).status]).toEqual([200, 200])
  })

  test('lists its routes', async () => {
    const response = await answer(new Request('https://shop.example/'), '192.0.2.4')
    expect([response.status, await response.json()]).toEqual([
      404,
      { routes: ['GET /api/search', 'POST /api/summary'] },
    ])
  })
})
