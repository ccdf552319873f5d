import { childOptions, finishChild } from '../run/child.mjs'
import { seededRandom } from '../run/random.mjs'
import { hashContenders } from './hash-contenders.mjs'
import { seedFrom } from './hash-quality.mjs'

const count = 10_000
const { name, cases, cellMs, slices } = childOptions()
const contender = hashContenders.find((one) => one.name === name)

let sink = 0

// one function per load, so that JIT feedback of one load does not affect the other
function spinWarm(hash, keys) {
  for (let n = 0; n < count; n++) {
    hash.text(keys[n])
    sink ^= hash.low
  }
}

function spinFresh(hash, bytes, length) {
  for (let at = 0; at < count * length; at += length) {
    hash.text(bytes.latin1Slice(at, at + length))
    sink ^= hash.low
  }
}

/** CPU ns per key, one value per slice; the first quarter of the time is warm-up. */
function measure(pass) {
  const start = performance.now()
  let passes = 0
  while (performance.now() - start < cellMs / 4) {
    pass()
    passes++
  }
  const perSlice = Math.max(1, Math.round((3 * passes) / slices))
  return Array.from({ length: slices }, () => {
    const before = process.cpuUsage()
    for (let n = 0; n < perSlice; n++) pass()
    const { user, system } = process.cpuUsage(before)
    return (1_000 * (user + system)) / (perSlice * count)
  })
}

function measureCase({ length, fresh }) {
  const tail = '/api/v1/accounts/orders/items/search'
  const text = Array.from({ length: count }, (_, n) => `10.${n >> 8}.${n & 255}.7${tail}`.slice(0, length))
  const bytes = Buffer.from(text.join(''), 'latin1')
  const keys = text.map((_, n) => bytes.latin1Slice(n * length, (n + 1) * length))
  const hash = contender.open(seedFrom(seededRandom(23)), keys)
  return measure(fresh ? () => spinFresh(hash, bytes, length) : () => spinWarm(hash, keys))
}

const figures = cases.map(measureCase)
finishChild({ figures, sink })
