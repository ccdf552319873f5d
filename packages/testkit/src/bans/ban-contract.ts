import { createLimiter, type Limiter, type Observer, type PolicyInput } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { BANNING, type BanBench, type MakeBanFleet, type SeenBan } from './ban-bench.ts'
import { banClaims } from './ban-claims.ts'

/**
 * The contract of bans on a backend that several processes share: a ban of one process applies to all of them, and ends
 * for all of them.
 */
export function banContract({ describe, test }: TestRunner, makeFleet: MakeBanFleet): void {
  describe('fulfils the contract of bans', () => {
    for (const [name, run] of Object.entries(banClaims)) test(name, () => onFleet(makeFleet, run))
  })
}

/** Runs a claim; `make` creates the limiters of one policy. */
async function onFleet(
  makeFleet: MakeBanFleet,
  run: (make: (policy?: PolicyInput) => BanBench) => Promise<void>,
): Promise<void> {
  const fleet = await makeFleet(3)
  const opened: Limiter[] = []
  try {
    await run((policy = BANNING) => {
      const bans: SeenBan[] = []
      const observer: Observer = {
        event: (name, data) => {
          if (name === 'ban') bans.push({ key: String(data.key), ms: Number(data.ms), level: Number(data.level) })
        },
      }
      const { clock } = fleet
      const limiters = fleet.backends.map((backend) =>
        createLimiter({ policies: [policy], backend, clock, shared: true, observers: [observer] }),
      )
      opened.push(...limiters)
      return { fleet, limiters, bans }
    })
  } finally {
    for (const limiter of opened) await limiter.close()
    await fleet.close?.()
  }
}
