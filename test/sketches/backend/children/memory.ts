import { createLimiter } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'

// bytes of buffers that a backend of each kind takes, right after its creation and after a flood of keys
const kinds = [
  {},
  { cells: 8 },
  { slots: 60 },
  { conservative: true },
  { history: { unit: '1s', keep: '1d' } },
] as const
const collect = global.gc as () => void
// keeps every backend alive, so that no memory is released during a measurement
const kept: object[] = []
const buffers = (): number => {
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}

const taken = [65_536, 2 ** 20, 2 ** 22].flatMap((bytes) =>
  kinds.flatMap((kind) => {
    if ('history' in kind && bytes === 65_536) return []
    const before = buffers()
    const backend = sketchBackend({ ...kind, bytes })
    kept.push(backend)
    const limiter = createLimiter({ policies: [{ limit: 100, window: '1h' }], backend })
    const atOnce = buffers() - before
    for (let key = 0; key < 50_000; key++) limiter.take(`key ${key}`, 1, { now: key * 200 })
    for (let key = 0; key < 500; key++) limiter.reset(`key ${key}`)
    return [{ bytes, atOnce, flooded: buffers() - before }]
  }),
)
process.stdout.write(`${JSON.stringify(taken)}\n`)
