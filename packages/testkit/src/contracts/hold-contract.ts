import type { PolicyCalendar } from '@sluice/limiter-core'
import { FakeClock } from '../fake-clock.ts'
import type { TestRunner } from '../suite-runner.ts'
import { policyBeside, START_MS } from './backend-claims.ts'
import type { MakeBackend } from './backend-contract.ts'
import { holdClaims, keptHoldClaims } from './holds/hold-claims.ts'

export interface HoldContractOptions {
  /** Calendar of the policies, for a backend that only keeps calendars. Default: windows of an hour. */
  readonly calendar?: PolicyCalendar | undefined
}

/**
 * The contract of holds, for backends that hold units themselves (`Backend.keepsHolds`) but cannot run
 * `backendContract`, which contains it.
 */
export function holdContract(
  { describe, test }: TestRunner,
  makeBackend: MakeBackend,
  { calendar }: HoldContractOptions = {},
): void {
  describe('fulfils the contract of holds', () => {
    for (const [name, run] of Object.entries({ ...holdClaims, ...keptHoldClaims })) {
      test(name, async () => {
        const clock = new FakeClock({ nowMs: START_MS })
        const backend = await makeBackend(clock)
        try {
          await run({ backend, clock, hour: { ...policyBeside(false), ...(calendar && { calendar }) } })
        } finally {
          await backend.close?.()
        }
      })
    }
  })
}
