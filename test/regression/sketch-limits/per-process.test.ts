import cluster from 'node:cluster'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { clusterBackend } from '@sluice/fleet'
import { type Backend, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { sketchBackend } from '@sluice/sketches/limits'
import { Warnings } from '@sluice/testkit'

const warnings = new Warnings()
const { pm_id } = process.env
const { send } = process

beforeEach(() => warnings.listen())
afterEach(() => {
  warnings.stop()
  Object.assign(cluster, { isWorker: false })
  Object.assign(process, { send })
  if (pm_id === undefined) delete process.env.pm_id
  else process.env.pm_id = pm_id
})

// regression: only the backend named memory caused a warning
test.each<[string, () => Backend]>([
  ['memoryBackend', memoryBackend],
  ['sketchBackend', sketchBackend],
  ['sketchBackend with a history', () => sketchBackend({ history: { unit: '1s', keep: '1m' } })],
])('a limiter on a %s in a worker warns that each process counts separately', (_name, make) => {
  Object.assign(cluster, { isWorker: true })
  process.send = () => true
  createLimiter({ policies: [{ limit: 5, window: '1m' }], backend: make() })
  expect(warnings.codes).toEqual(['SLUICE_MEMORY_IN_CLUSTER'])
})

test('a limiter on the clusterBackend of a primary that runs under pm2 logs no warning', () => {
  process.env.pm_id = '0'
  const backend = clusterBackend()
  createLimiter({ policies: [{ limit: 5, window: '1m' }], backend }).close()
  backend.close?.()
  expect(warnings.codes).toEqual([])
})
