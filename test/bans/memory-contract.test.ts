import { describe, test } from '@jest/globals'
import { type Answer, type Backend, memoryBackend } from '@sluice/limiter-core'
import { banContract, FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'

function fleetOn(backendOf: (clock: FakeClock) => Backend<Answer> | Backend): Parameters<typeof banContract>[1] {
  return (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const backend = backendOf(clock)
    return { clock, backends: Array.from({ length: processes }, () => backend) }
  }
}

describe('memoryBackend with several limiters', () =>
  banContract(
    { describe, test },
    fleetOn((clock) => memoryBackend({ clock })),
  ))

describe('an asynchronous backend with several limiters', () =>
  banContract(
    { describe, test },
    fleetOn((clock) => new PromisedBackend(clock)),
  ))
