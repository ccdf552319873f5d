import type { AddressInfo } from 'node:net'
import { inflightLimit, rateLimit } from '@sluice/express'
import { redisChannel, type ScriptRunner } from '@sluice/redis'
import {
  BloomFilter,
  type CountedKey,
  CountMin,
  HokusaiTime,
  HyperLogLog,
  RedisHyperLogLog,
  type Sketch,
  type SketchKey,
  SketchSeed,
  SpaceSaving,
  TDigest,
} from '@sluice/sketches'
import { type SharedSketch, shareSketch } from '@sluice/sketches/fleet'
import { blockList, sketchBackend, sketchInflight } from '@sluice/sketches/limits'
import express from 'express'

const seed = new SketchSeed('a secret of sixteen bytes or more')
const talkers = new SpaceSaving({ capacity: 10 })

const app = express()
app.use(rateLimit({ limit: 1, window: '1m', backend: sketchBackend({ bytes: 2 ** 20 }) }))
app.use(inflightLimit({ limit: 10, key: (req) => req.ip, backend: sketchInflight({ trigger: 1 }) }))
app.get('/', (req, res) => {
  talkers.add(req.ip ?? '')
  const top: CountedKey[] = talkers.top(3)
  res.send(`hello ${top.length}`)
})

function total<S extends Sketch<S>>(parts: readonly S[], into: S): S {
  for (const part of parts) into.merge(part)
  return into
}

// the code below is not called: it must only compile
export const others = (runner: ScriptRunner, key: SketchKey): unknown[] => {
  const shared: SharedSketch<CountMin> = shareSketch(redisChannel(runner), {
    topic: 'counts',
    make: () => new CountMin({ width: 64, depth: 4, seed }),
    read: (bytes) => CountMin.fromBytes(bytes, { seed }),
    window: '1m',
  })
  return [
    shared.own.add(key),
    total([new HyperLogLog({ seed })], new HyperLogLog({ seed })).count(),
    new RedisHyperLogLog().add(key),
    new TDigest({ scale: 'k1' }).quantile(0.5),
    new BloomFilter({ capacity: 10 }).has(key),
    new HokusaiTime({ width: 64, depth: 4, unitMs: 1_000 }).last(key, 5, 0),
    blockList({ capacity: 1_000, exact: async () => true }).has('anna'),
  ]
}

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
