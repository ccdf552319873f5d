import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import * as sketches from '@sluice/sketches'
import { everySketch, fedSketch } from './every-sketch.ts'

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The next release reads bytes of this one, and processes of both count together: a change needs another version. */
const FORMATS: Readonly<Record<string, string>> = {
  CountMin: '24a978b53200a546bd09d5c9acc1fe9012c9e0e41c2ab2fcba66fe3b6ebcd4b5',
  Estimator: '401ad81ba84c5408189540deb9eb2cd9e638b8f88a9d442ab94bbe013728e92f',
  HyperLogLog: 'd32a9706c895c9d611325a3cfce9091da3eadcb4cd92481e282cfc32a51d74c3',
  SpaceSaving: 'e14dbb455909a1259bcf6c8493ac27f17099da5ac12229e0045adfd7e02a4198',
  HeavyKeeper: '4ec0493d3c9aa79a4993d673c3f31fd9cd64fc92a282e6e322e0c454d5bcd35a',
  TDigest: '0afa7b1661d4fd02553d4ea986ef585567a9cc6c2d744bfe045465758869ec92',
  BloomFilter: '0c8d118b2ddf3f177f0b15699be2c259e7562a6c85be7df60190ffc3b36162e2',
  BlockedBloomFilter: 'a0094e047202956e904e2226862366ccf742d4a2c608fbbf93f69ec4fede0908',
  CountingBloomFilter: '783f9cf854b91bcb1287835ec0ba762eb319293a2c51824205508fe9fb0aea0a',
  HokusaiTime: 'b68d0ae334b0ded23fadc61a23a3fa14851cb10ac5b4185c51750e334581d10c',
  HokusaiItem: 'b2ec8ce44a34070babf7a60aa4c6ff8c4b8894d5983792ad30187f7afb920c18',
  Hokusai: '80f8ce5df7ac2a2c15597f0b40f742859b689eebc5f5e2f1124aeac3441a0a2c',
  CountRange: 'b3d905e310e603492b1361628370ca7d68be2f87f70513a2b36dfbb1dbdca97e',
  RedisBloomCountMin: '5dac80f3953d9ca0048f75c2ac24efd9cf5c33c4a095570afe10ba8aa59e0f65',
  RedisHyperLogLog: '8dcb523d84abc320fd7b6ff0e67a24ba071c4642394623c97f69b80216707fda',
}

describe.each(everySketch.map((one) => [one.name, one] as const))('the bytes of %s', (name, one) => {
  test('equal those of every earlier release', () => {
    expect(sha256(fedSketch(one, sketches).toBytes())).toBe(FORMATS[name])
  })

  test('are read back by the class that wrote them', () => {
    const bytes = fedSketch(one, sketches).toBytes()
    expect(sha256(one.read(sketches, bytes).toBytes())).toBe(FORMATS[name])
  })
})

test('each kind has its own number, and all formats are still at version 1', () => {
  const ours = everySketch.filter(({ kind }) => kind !== undefined)
  const heads = ours.map((one) => [...one.make(sketches).toBytes().subarray(0, 8)])
  expect(heads).toEqual(ours.map(({ kind }) => [...Buffer.from('SLSK'), kind, 1, 0, 0]))
  expect(new Set(ours.map(({ kind }) => kind)).size).toBe(ours.length)
})

const seed = 'a seed of sixteen bytes, and more'

test.each([
  ['8 bits', { cells: 8 }, 'bab3a4c056dd4e5948c299e4d9024f06d0e18fa93bfb144eb457b7c558f0e39e'],
  [
    '16 bits, conservative',
    { cells: 16, conservative: true },
    '5ba295784511549b86870bc8dee8e3531b5118a668721693519c4bfcb1674729',
  ],
  ['32 bits in shared memory', { shared: true }, '34b33b7a78e50482ec928835b5e2009f4b303e0fa29ec7719ddbe6717a4f9a5a'],
] as const)('CountMin with cells of %s keeps its bytes', (_, options, hash) => {
  const sketch = new sketches.CountMin({ width: 60, depth: 5, seed, ...options })
  for (let key = -50; key < 50; key++) sketch.add(key, 9)
  expect(sha256(sketch.toBytes())).toBe(hash)
})

test.each([
  ['sparse', 3_000, 'ccdf438d5bfede635cdf0248e95a9dbbe5d92112644bcad03949884f78a002eb'],
  ['dense', 0, '1f516a6ab32b34cc7a9a75a509493133df350115cdc2262c6a597cbdcc0c8724'],
] as const)('RedisHyperLogLog keeps its bytes when it is %s', (_, sparseMaxBytes, hash) => {
  const sketch = new sketches.RedisHyperLogLog({ sparseMaxBytes })
  for (let key = 0; key < 300; key++) sketch.add(key)
  expect(sha256(sketch.toBytes())).toBe(hash)
})

test.each([
  ['k1', '58458acd42aaa37db3dab7b81d565316c4dcd4a6426cbebfd2a8a5dce081e31c'],
  ['k2', 'fc89f6e43cc8e726894784d003a0ee64332c1579e24841e0254db6ea32983ed5'],
] as const)('TDigest of scale %s keeps its bytes after compression', (scale, hash) => {
  const sketch = new sketches.TDigest({ compression: 20, scale })
  for (let value = 0; value < 500; value++) sketch.add((value * 389) % 500)
  sketch.compress()
  expect(sha256(sketch.toBytes())).toBe(hash)
})
