import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import type { Account, SpendingSite } from '../children/spending.ts'

export type Spending = ChildNode<typeof import('../children/spending.ts')>

type Victim = 'process' | 'postgres' | 'embedded'

/** A limit that is leased, and a limit too small for leases. */
const LIMITS = { leased: 1_000_000, exact: 70 } as const
const TOP_UP = 3
const LONGEST_DELAY_MS = 200

export function startSpending(): Spending {
  return startNode('quotas/children/spending.ts', { nodeArgs: EMBEDDED_ARGS })
}

/** Defines a test for each victim, with the given number of kills. */
export function killClaims(kills: Readonly<Partial<Record<Victim, number>>>, timeoutMs: number): void {
  test.each(Object.entries(kills) as [Victim, number][])(
    'every spent unit is charged and a top-up counts once when the %s is killed %i times',
    (victim, times) =>
      eachSeed(1, async (random) => {
        const folder = memoryFolder('sluice-quotas-')
        const postgres = await startPostgres()
        try {
          if (victim === 'embedded') copyEmbeddedTemplate(folder)
          await postgresLedger(postgres.pool()).migrate()
          const log = join(folder, 'log')
          const site = {
            postgresUrl: postgres.url,
            folder: victim === 'embedded' ? folder : undefined,
            log,
            limits: LIMITS,
          }
          await killAgain({ victim, times, postgres, site }, random)
          const last = startSpending()
          await last.call('open', site)
          for (const account of await last.call('audit')) check(account, linesOf(log), times)
          await last.stop()
        } finally {
          await postgres.stop()
          rmSync(folder, { recursive: true, force: true })
        }
      }),
    timeoutMs,
  )
}

interface Killing {
  readonly victim: Victim
  readonly times: number
  readonly postgres: PostgresServer
  readonly site: SpendingSite
}

async function killAgain({ victim, times, postgres, site }: Killing, random: SeededRandom): Promise<void> {
  let child = await spending(site)
  for (let kill = 0; kill < times; kill++) {
    const before = linesOf(site.log).length
    await eventually(async () => linesOf(site.log).length > before + 3, { what: `something spent (${child.output})` })
    await new Promise<void>((resolve) => void systemClock.after(random.whole(LONGEST_DELAY_MS), resolve))
    if (victim === 'postgres') await postgres.restart()
    else {
      await child.stop()
      child = await spending(site)
    }
  }
  await child.stop()
}

async function spending(site: SpendingSite): Promise<Spending> {
  const child = startSpending()
  await child.call('open', site)
  await child.call('spend')
  return child
}

function linesOf(log: string): readonly string[] {
  try {
    return readFileSync(log, 'utf8').split('\n')
  } catch {
    return []
  }
}

function check({ policy, balance, usage }: Account, lines: readonly string[], kills: number): void {
  const { used, stranded, toppedUp, topUpLeft, included, left } = balance
  const allowed = lines.filter((line) => line === `take ${policy}`).length
  const tokens = lines.filter((line) => line === `topped-up ${policy}`).length
  expect([policy, usage]).toEqual([policy, used + stranded])
  expect([policy, toppedUp + topUpLeft]).toEqual([policy, tokens * TOP_UP])
  expect(used + stranded + left).toBe(included + toppedUp + topUpLeft)
  expect(left).toBeGreaterThanOrEqual(0)
  // the take that was charged at the moment of a kill may not have been answered
  expect(allowed).toBeLessThanOrEqual(used + stranded)
  expect(used).toBeLessThanOrEqual(allowed + kills + 1)
}
