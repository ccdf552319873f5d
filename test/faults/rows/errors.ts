import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { type Bench, groupOf } from '../bench.ts'
import type { Site } from '../children/app.ts'
import { during } from '../fleet.ts'
import { countsAgree, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { keyRows } from './keys.ts'

const FAULT_MS = 700

/** Redis answers with errors. */
export const errors: Group<Bench> = groupOf('Redis refuses', [
  refuses('OOM', 'memory full under noeviction', {
    begin: async ({ admin }) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
    end: async ({ admin }) => admin.config('SET', 'maxmemory', '0'),
  }),
  refuses('READONLY', 'the master became a replica', {
    begin: async ({ admin }) => admin.replicaof('127.0.0.1', 1),
    end: async ({ admin }) => admin.replicaof('NO', 'ONE'),
  }),
  refuses('MISCONF', 'snapshots fail', {
    begin: async ({ admin, redis }) => {
      // a folder in the place of the file, which even root cannot replace
      mkdirSync(join(redis.folder, 'dump.rdb'))
      await admin.config('SET', 'save', '3600 1000000', 'stop-writes-on-bgsave-error', 'yes')
      await admin.bgsave()
    },
    end: async ({ admin, redis }) => {
      rmSync(join(redis.folder, 'dump.rdb'), { recursive: true })
      await admin.config('SET', 'save', '')
    },
  }),
  refuses('BUSY', "another client's script does not end", {
    begin: async ({ admin }) => void admin.eval('while true do end', 0).catch(() => {}),
    end: async ({ redis }) => redis.client({ enableReadyCheck: false }).script('KILL'),
  }),
  refuses('LOADING', 'Redis reads its data from disk', {
    // slow enough that loading outlasts the fault, as with millions of keys
    before: async ({ admin }) => {
      await admin.call('DEBUG', 'POPULATE', '20000', 'filler')
      await admin.config('SET', 'key-load-delay', '50')
    },
    begin: async ({ admin }) => void admin.call('DEBUG', 'RELOAD').catch(() => {}),
    end: async ({ admin }) => {
      await admin.ping()
      await admin.config('SET', 'key-load-delay', '0')
      await admin.flushall()
    },
    forgets: true,
  }),
  refuses('NOAUTH', 'a password is set', {
    begin: async ({ admin }) => {
      await admin.config('SET', 'requirepass', 'secret')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    },
    end: async ({ admin }) => admin.config('SET', 'requirepass', ''),
    // the breaker opens before a client reconnects and receives the error
    told: 'CONNECTION',
  }),
  { id: 'R9', fault: 'NOAUTH: applications start with a wrong password', run: startsRefused },

  refuses('NOPERM', 'scripts are not allowed any more', {
    begin: async ({ admin }) => admin.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval'),
    end: async ({ admin }) => admin.call('ACL', 'SETUSER', 'default', '+evalsha', '+eval'),
  }),
  refuses('MAXCLIENTS', 'no connection is left', {
    begin: async ({ admin }) => {
      await admin.config('SET', 'maxclients', '1')
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    },
    end: async ({ admin }) => admin.config('SET', 'maxclients', '1000'),
    told: 'CONNECTION',
  }),
  ...keyRows,
])

interface Server extends Bench {
  readonly admin: Redis
}

interface Refusal {
  readonly before?: (server: Server) => Promise<unknown>
  readonly begin: (server: Server) => Promise<unknown>
  readonly end: (server: Server) => Promise<unknown>
  readonly forgets?: boolean
  /** The error code, if limiters see another one because the client hides it. */
  readonly told?: string
}

function refuses(code: string, what: string, { before, begin, end, forgets, told = code }: Refusal): Row<Bench> {
  const run = async ({ fleet, redis }: Bench, findings: Findings): Promise<void> => {
    const admin = redis.client()
    const server = { fleet, redis, admin }
    await before?.(server)
    const site: Omit<Site, 'scope'> = { address: { url: redis.url } }
    await fleet.open(site)
    const passed = await fleet.through(() =>
      during(
        FAULT_MS,
        () => begin(server),
        () => end(server),
      ),
    )
    findings.atLeast(`reported as ${told}`, passed.timeline.cause(told), 1)
    const others = passed.timeline.reports.flatMap(({ causes }) => Object.keys(causes)).filter((name) => name !== told)
    findings.note(`also ${[...new Set(others)].join(', ') || 'nothing else'}`)
    holdsAlways(findings, passed)
    staysDenied(findings, passed.timeline)
    isUsedAgain(findings, passed)
    if (!forgets) countsAgree(findings, passed.timeline, await fleet.counted(redis.client()), [passed])
  }
  return { id: 'R9', fault: `${code}: ${what}`, run }
}

async function startsRefused({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  const admin = redis.client()
  await admin.config('SET', 'requirepass', 'secret')
  await fleet.openUnready({ address: { url: redis.url } })
  const passed = await fleet.through(() =>
    during(
      FAULT_MS,
      () => {},
      () => admin.config('SET', 'requirepass', ''),
    ),
  )
  findings.atLeast('reported as NOAUTH', passed.timeline.cause('NOAUTH'), 1)
  holdsAlways(findings, passed)
  isUsedAgain(findings, passed)
}
