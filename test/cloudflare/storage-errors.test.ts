import { expect, test } from '@jest/globals'
import { durableObjectBackend, LimitObject } from '@sluice/cloudflare'
import type { Policy } from '@sluice/limiter-core/backend'
import { eachSeed, openedCounter } from '@sluice/testkit'
import { InProcessObjects, InProcessStorage } from './in-process-objects.ts'

const RUNS = 30
const LIMIT = 20
const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: LIMIT, windowMs: 3_600_000 }

test('reads that fail, alarms and concurrent calls leave every count exact', async () => {
  await eachSeed(RUNS, async (random) => {
    let isFailing = true
    const failSometimes = (): void => {
      if (isFailing && random.whole(8) === 0) throw new Error('the storage failed')
    }
    class FailingStorage extends InProcessStorage {
      override async get(keys: string[]): Promise<Map<string, unknown>> {
        const found = await super.get(keys)
        failSometimes()
        return found
      }

      override async getAlarm(): Promise<number | null> {
        failSometimes()
        return super.getAlarm()
      }
    }
    const objects = new InProcessObjects()
    const storage = new FailingStorage()
    objects.storages.set('sluice:0', storage)
    const backends = [1, 2, 3].map(() => durableObjectBackend(objects, { shards: 1, maxBatch: 1 + random.whole(3) }))
    const keys = Array.from({ length: 6 }, (_, index) => `key ${index}`)
    const admitted = new Map(keys.map((key) => [key, 0]))
    const take = async (): Promise<void> => {
      const backend = random.pick(backends)
      const some = keys.filter(() => random.whole(3) === 0)
      if (some.length === 0) return
      const charges = some.map((key) => ({ key, counter: openedCounter(backend, 'errors', hour), cost: 1 }))
      const answer = await backend.takeAll(charges).catch(() => undefined)
      if (!answer?.verdicts.every(({ allowed }) => allowed)) return
      for (const key of some) admitted.set(key, (admitted.get(key) ?? 0) + 1)
    }
    for (let round = 0; round < 8; round++) {
      if (random.whole(4) === 0) objects.restart()
      const object = objects.objects.get('sluice:0') ?? new LimitObject({ storage })
      objects.objects.set('sluice:0', object)
      const ringing = object.alarm().catch(() => {})
      await Promise.all([ringing, ...Array.from({ length: 12 }, take)])
    }
    isFailing = false
    objects.restart()
    const [backend] = backends
    const charges = keys.map((key) => ({ key, counter: openedCounter(backend, 'errors', hour), cost: 0 }))
    const { verdicts } = await backend.peekAll(charges)
    expect(verdicts.map(({ remaining }) => LIMIT - remaining)).toEqual(keys.map((key) => admitted.get(key)))
  })
})
