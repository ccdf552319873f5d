import { expect, test } from '@jest/globals'
import { rateLimit, sluiceOf } from '@sluice/fetch'
import type { Answer, Charge, Moment } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../../contracts/async-backend.ts'

/** A backend with another client, which takes units directly after the first denials. */
class SharedBackend extends PromisedBackend {
  readonly #others = [10, 5]

  override async takeAll(charges: readonly Charge[], moment?: Moment): Promise<Answer> {
    const answer = await super.takeAll(charges, moment)
    const cost = answer.verdicts[0].allowed ? 0 : (this.#others.shift() ?? 0)
    if (cost > 0) await super.takeAll([{ ...charges[0], cost, hold: undefined }])
    return answer
  }
}

test('a stream uses the last units that are left, although other requests take some of them', async () => {
  const clock = new FakeClock()
  const limit = rateLimit({
    name: 'tokens',
    limit: 100,
    window: '1h',
    maxHoldMs: '10m',
    key: () => 'a',
    backend: new SharedBackend(clock),
    clock,
    cost: { reserve: 10, extend: 'stream', extendBy: 60 },
  })
  let admitted = 0
  const handle = limit.wrap(async (request) => {
    while (await sluiceOf(request)?.used(3)) admitted += 3
    return new Response('done')
  })
  await (await handle(new Request('http://localhost/'))).text()
  // of 85 units, in reports of 3
  expect(admitted).toBe(84)
  limit.close()
})
