import { test } from '@jest/globals'
import { keepsItsPromise } from './fleet-mode.ts'

// the overshoot of a synced process before it receives the others' counts depends on stalls of the machine
test.each([
  ['leased', 'leased'],
  ['synced', 'synced'],
])(
  'the fleet keeps the promise of its mode %s while Redis is killed and restarted',
  (mode, source) => keepsItsPromise(mode, source),
  120_000,
)
