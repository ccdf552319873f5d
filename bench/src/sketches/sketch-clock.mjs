// CPU time of one call, and its loads. One load per process, so that JIT feedback of one load does not
// affect another.
import { keyText, valuesOf } from './sketch-streams.mjs'

const keys = 10_000
const slowKeys = 200
const smokeKeys = 20

/** `fresh`: each call gets a string that was never hashed, created like an HTTP parser does. */
const texts = {
  warm15: { length: 15, fresh: false },
  warm40: { length: 40, fresh: false },
  fresh15: { length: 15, fresh: true },
  fresh40: { length: 40, fresh: true },
}

export const loadTitles = {
  warm15: '15 characters',
  warm40: '40 characters',
  fresh15: '15 characters, fresh',
  fresh40: '40 characters, fresh',
  integers: 'integers',
  exponential: 'exponential',
  bimodal: 'bimodal',
}

/** `{ count, pass(call) }`: one pass calls `count` times. */
export function openLoad(load, { slow = false, smoke = false }) {
  const count = smoke ? smokeKeys : slow ? slowKeys : keys
  if (load === 'integers') return { count, pass: (call) => passIntegers(call, count) }
  if (texts[load] === undefined) return valueLoad(load, smoke ? smokeKeys : 2 ** 16)
  const { length, fresh } = texts[load]
  const all = Array.from({ length: count }, (_, n) => keyText(n * 1_009, length).padEnd(length, '0'))
  const bytes = Buffer.from(all.join(''), 'latin1')
  if (fresh) return { count, pass: (call) => passFresh(call, bytes, length) }
  const kept = all.map((_, n) => bytes.latin1Slice(n * length, (n + 1) * length))
  return { count, pass: (call) => passKept(call, kept) }
}

function valueLoad(name, count) {
  const values = valuesOf(name, count)
  return { count, pass: (call) => passKept(call, values) }
}

function passKept(call, kept) {
  for (let n = 0; n < kept.length; n++) call(kept[n])
}

function passIntegers(call, count) {
  for (let n = 0; n < count; n++) call(n * 1_009)
}

function passFresh(call, bytes, length) {
  for (let at = 0; at < bytes.length; at += length) call(bytes.latin1Slice(at, at + length))
}

/** CPU ns per call, one value per slice; the first quarter of the time is warm-up. */
export function cpuNs(call, { count, pass }, { cellMs, slices }) {
  const start = performance.now()
  let passes = 0
  do {
    pass(call)
    passes++
  } while (performance.now() - start < cellMs / 4)
  const perSlice = Math.max(1, Math.round((3 * passes) / slices))
  return Array.from({ length: slices }, () => {
    const before = process.cpuUsage()
    for (let n = 0; n < perSlice; n++) pass(call)
    const { user, system } = process.cpuUsage(before)
    return (1_000 * (user + system)) / (perSlice * count)
  })
}
