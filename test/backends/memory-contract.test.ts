import { describe, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { backendContract, type FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'

describe('memoryBackend', () =>
  backendContract({ describe, test }, (clock) => memoryBackend({ clock }), { keepsHolds: true, booksTurns: true }))

// the contract must not depend on synchronous results
describe('an asynchronous backend', () =>
  backendContract({ describe, test }, (clock) => new PromisedBackend(clock as FakeClock), {
    keepsHolds: true,
    booksTurns: true,
  }))
