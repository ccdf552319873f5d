import type { Answer, Backend } from '@sluice/limiter-core'
import { storeBackend } from '@sluice/stores'
import { type DenoKv, denoKvStore } from '@sluice/stores/deno-kv'
import { backendContract, rowStoreContract } from '@sluice/testkit'
import { charge, hour } from '../../stores/bench.ts'
import { CollectedTests } from './collected-tests.ts'

declare const Deno: { openKv(path: string): Promise<DenoKv> }

const kv = await Deno.openKv(':memory:')
const tests = new CollectedTests()
let prefixes = 0

rowStoreContract(tests, () => denoKvStore(kv))
backendContract(
  tests,
  (clock) => storeBackend(denoKvStore(kv, { prefix: `own ${prefixes++}` }), { clock, serverTime: () => clock.now() }),
  {
    histories: 2,
    answersWithoutClock: true,
  },
)
tests.test('admits exactly the limit of 8 backends with 200 takes each', async () => {
  const policy = { ...hour, limit: 700 }
  const takes = Array.from({ length: 8 }, () => {
    const backend: Backend<Promise<Answer>> = storeBackend(denoKvStore(kv))
    return Array.from({ length: 200 }, () => backend.takeAll([charge(backend, 1, 'hot', policy)]))
  })
  const admitted = (await Promise.all(takes.flat())).filter(({ verdicts }) => verdicts[0].allowed).length
  if (admitted !== policy.limit) throw new Error(`${admitted} of ${policy.limit} were admitted`)
})

console.log(JSON.stringify(await tests.run()))
