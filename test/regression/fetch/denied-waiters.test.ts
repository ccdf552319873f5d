import { expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/fetch'
import { FakeClock } from '@sluice/testkit'

test('a request that a cap denies after it has waited keeps no worker alive', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limit = inflightLimit({ limit: 1, queue: { max: 1, maxWaitMs: 100 }, clock })
  const works: Promise<void>[] = []
  const info = { waitUntil: (work: Promise<void>) => void works.push(work) }
  let finish = (_response: Response): void => {}
  const running = new Promise<Response>((resolve) => {
    finish = resolve
  })
  const handler = limit.wrap((_request: Request, _info: typeof info) => running)
  const send = async () => handler(new Request('http://localhost/'), info)
  const first = send()
  const waiting = send()
  const refused = await send()
  expect(refused.status).toBe(503)
  clock.advance(100)
  expect((await waiting).status).toBe(503)
  finish(new Response('ok'))
  expect(await (await first).text()).toBe('ok')
  // each of them resolves
  await Promise.all(works)
  expect(works).toHaveLength(3)
})
