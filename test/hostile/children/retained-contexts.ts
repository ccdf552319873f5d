import { AsyncLocalStorage } from 'node:async_hooks'
import { createInflightLimiter, createLimiter } from '@sluice/limiter-core'

const storage = new AsyncLocalStorage<object>()
const limiter = createLimiter({
  policies: [
    { limit: 5, window: '1h' },
    { name: 'second', limit: 5, window: '1h' },
  ],
})
const cap = createInflightLimiter({ limit: 1_000, maxHoldMs: '1h' })
const contexts: WeakRef<object>[] = []

function request(index: number): void {
  const context = { megabyte: new Uint8Array(2 ** 20) }
  contexts.push(new WeakRef(context))
  storage.run(context, () => {
    limiter.take(`client-${index}`)
    limiter.charge(`client-${index}`, 1)
    // the first permit starts the sweep, and is released long before it expires
    cap.acquire(`client-${index}`)?.release()
    limiter.reset(`client-${index}`)
  })
}

for (let index = 0; index < 50; index++) request(index)
// a WeakRef keeps its target alive until the current turn of the event loop ends
setImmediate(() => {
  global.gc?.()
  const kept = contexts.filter((context) => context.deref() !== undefined).length
  console.log(JSON.stringify({ requests: contexts.length, kept }))
})
