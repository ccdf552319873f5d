import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { RehashBuffer } from '../../../packages/limiter-core/src/memory/rehash-buffer.ts'
import { scene } from '../scene.ts'

const [maxBytes, others, ...order] = process.argv.slice(1)
const budget = Number(maxBytes)

const policies: Readonly<Record<string, PolicyInput>> = {
  gcra: { algorithm: 'gcra', limit: 5, window: '1m' },
  fixed: { algorithm: 'fixed-window', limit: 5, window: '1m' },
  window: { algorithm: 'sliding-window', limit: 5, window: '1m' },
  log: { algorithm: 'sliding-log', limit: 3, window: '1m' },
  eight: { algorithm: 'sliding-log', limit: 6, window: '1m' },
  wide: { algorithm: 'sliding-log', limit: 100, window: '1m' },
}

// number of keys that one take moved
let moved = 0
const arrived = RehashBuffer.prototype.clear
RehashBuffer.prototype.clear = function (): void {
  moved += this.count
  arrived.call(this)
}

const { backend, clock } = scene([{ limit: 1, window: '1s' }], budget)
let most = 0
for (const name of order) {
  const limiter = createLimiter({ policies: [policies[name] as never], backend, clock, scope: name })
  for (let key = 0; key < budget / 30; key++) {
    moved = 0
    limiter.take(`key-${key}`)
    most = Math.max(most, moved)
  }
  if (others === 'expired') clock.advance(3 * 60_000)
}
console.log(JSON.stringify({ most }))
