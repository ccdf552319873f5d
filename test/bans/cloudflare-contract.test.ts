import { describe, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { banContract, FakeClock } from '@sluice/testkit'
import { InProcessObjects } from '../cloudflare/in-process-objects.ts'

describe('durableObjectBackend of several processes', () =>
  banContract({ describe, test }, (processes) => {
    const clock = new FakeClock({ nowMs: 1_000 })
    const objects = new InProcessObjects()
    const backends = Array.from({ length: processes }, () =>
      durableObjectBackend(objects, { clock, serverTime: () => clock.now() }),
    )
    return { clock, backends }
  }))
