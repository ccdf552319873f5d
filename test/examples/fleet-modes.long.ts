import { test } from '@jest/globals'
import { keepsItsPromise } from './fleet-mode.ts'

// what a synced process gives away before it hears of the others depends on how long a machine stands still
test.each([
  ['leased', 'leased'],
  ['synced', 'synced'],
])(
  'the fleet keeps what its mode %s promises while Redis is killed and begins anew',
  (mode, source) => keepsItsPromise(mode, source),
  90_000,
)
