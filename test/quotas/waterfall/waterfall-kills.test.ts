import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import { systemClock } from '@sluice/limiter-core/backend'
import type { WaterfallPart } from '@sluice/quotas'
import { eachSeed, numberOfRuns, type SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import type { TakingSite } from './children/waterfalls.ts'

type Child = ChildNode<typeof import('./children/waterfalls.ts')>

const NAMES = ['included', 'credits', 'overage']

let folder: string
const children: Child[] = []

beforeEach(() => {
  folder = memoryFolder('sluice-waterfall-')
})
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
  rmSync(folder, { recursive: true, force: true })
})

function start(): Child {
  const child: Child = startNode('quotas/waterfall/children/waterfalls.ts', { nodeArgs: EMBEDDED_ARGS })
  children.push(child)
  return child
}

describe('a waterfall in a folder', () => {
  test('passes the suite of waterfalls', async () => {
    copyEmbeddedTemplate(folder)
    const results = await start().call('suite', folder)
    expect(results.filter(([, failure]) => failure !== undefined)).toEqual([])
    expect(results.length).toBeGreaterThanOrEqual(10)
  }, 60_000)

  test('equals its model at each random step, also after its folder was opened again', async () => {
    copyEmbeddedTemplate(folder)
    await eachSeed(1, (_, seed) => start().call('walk', folder, seed, numberOfRuns(200)))
  }, 120_000)

  test('counts each take and refund once when its process is killed', async () => {
    copyEmbeddedTemplate(folder)
    await eachSeed(1, async (random) => {
      const site = siteOf({ folder, prefix: 'take' })
      await killAgain(site, 2, random)
      await check([site])
    })
  }, 120_000)
})

describe('waterfalls of several processes on PostgreSQL', () => {
  let postgres: PostgresServer

  beforeEach(async () => {
    postgres = await startPostgres()
    await postgresLedger(postgres.pool()).migrate()
  })
  afterEach(() => postgres.stop())

  test(
    'count each take and refund once when processes are killed and the server restarts',
    () =>
      eachSeed(1, async (random) => {
        const sites = ['one', 'other'].map((prefix) => siteOf({ postgresUrl: postgres.url, prefix }))
        await Promise.all([...sites.map((site) => killAgain(site, 2, random)), restartOnce(sites[0])])
        await check(sites)
      }),
    120_000,
  )

  /** Kills the server, which starts again, once takes were answered. */
  async function restartOnce({ log }: TakingSite): Promise<void> {
    await eventually(async () => linesOf(log).length > 20, { what: 'twenty takes' })
    await postgres.restart()
  }
})

function siteOf(given: Partial<TakingSite> & Pick<TakingSite, 'prefix'>): TakingSite {
  return { postgresUrl: '', folder: undefined, log: join(folder, `${given.prefix}.log`), ...given }
}

async function killAgain(site: TakingSite, times: number, random: SeededRandom): Promise<void> {
  for (let kill = 0; kill < times; kill++) {
    const child = start()
    await child.call('open', site)
    const before = linesOf(site.log).length
    void child.call('takeForever').catch(() => {})
    await eventually(async () => linesOf(site.log).length > before + 10, { what: `ten takes (${child.output})` })
    await new Promise<void>((resolve) => void systemClock.after(random.whole(100), resolve))
    await child.stop()
  }
}

/** Compares the charges in the database with the logged answers. */
async function check(sites: readonly TakingSite[]): Promise<void> {
  let used: readonly number[] = []
  for (const site of sites) {
    const child = start()
    await child.call('open', site)
    used = await child.call('audit')
    await child.call('close')
  }
  const answers = sites.flatMap(({ log }) => linesOf(log).map((line) => JSON.parse(line)))
  expect(answers.length).toBeGreaterThan(20)
  const sumOf = (name: string): number =>
    answers.reduce((sum, { parts, refunded }) => sum + unitsOf(parts, name) - unitsOf(refunded, name), 0)
  expect(used).toEqual(NAMES.map(sumOf))
}

function unitsOf(parts: readonly WaterfallPart[], name: string): number {
  return parts.find((part) => part.name === name)?.units ?? 0
}

function linesOf(log: string): readonly string[] {
  try {
    return readFileSync(log, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
