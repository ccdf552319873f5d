import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import type { Backend, Clock } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { postgresBackend } from '@sluice/postgres'
import { redisBackend } from '@sluice/redis'
import { storeBackend } from '@sluice/stores'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'
import { TextSource } from '../../policies/text-source.ts'
import { ownPrefix } from '../../redis/exact/own-prefix.ts'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { MemoryRowStore, MemoryRows } from '../../stores/memory-row-store.ts'
import { type DrawnPolicy, drawPolicy, KEY } from './drawn-policy.ts'

const MEMBERS = 3
const RUNS = 20
const STEPS = 60
const LONGEST_MS = 10 * 2 * 600_000
const BAN_MS = 5_000
const TERMS = [{}, { ban: { after: 50, within: '1m', for: '1m', max: '10m' } }]
/** Redis also books turns. */
const REDIS_TERMS = [...TERMS, { retry: 'booked' }]

let redis: RedisServer
let clients: Redis[]
let postgres: PostgresServer
let pool: Pool
beforeAll(async () => {
  redis = await startRedis()
  clients = Array.from({ length: MEMBERS }, () => redis.client())
  postgres = await startPostgres({ fsync: false })
  pool = postgres.pool()
  await postgresBackend(pool).migrate()
})
afterAll(async () => {
  await redis.stop()
  await postgres.stop()
})

type Make = () => Promise<(member: number, options: { clock: Clock; serverTime: () => number }) => Backend>

const storages: Readonly<Record<string, Make>> = {
  Redis: async () => {
    const prefix = ownPrefix()
    return (member, options) => redisBackend(clients[member], { prefix, ...options })
  },
  PostgreSQL: async () => {
    await pool.query('truncate sluice.limits')
    return (_, options) => postgresBackend(pool, options)
  },
  'Durable Objects': async () => {
    const objects = new InProcessObjects()
    return (_, options) => durableObjectBackend(objects, options)
  },
  'a store': async () => {
    const rows = new MemoryRows()
    return (_, options) => storeBackend(new MemoryRowStore(rows), options)
  },
}

/** Calls of all backends that have not been answered. */
const calls = new Set<Promise<unknown>>()

/** Returns the backend with its calls in `calls`, also those that nothing waits for. */
function observed(backend: Backend): Backend {
  return new Proxy(backend, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const answer = value.apply(target, args)
        if (!(answer instanceof Promise)) return answer
        const call = answer.catch(() => {}).finally(() => calls.delete(call))
        calls.add(call)
        return answer
      }
    },
  })
}

/** Waits until all calls have been answered. */
async function answered(): Promise<void> {
  while (calls.size > 0) await Promise.all(calls)
}

/** A process of the fleet, whose clock differs from that of the server. */
function memberOf(
  member: number,
  backendOf: Awaited<ReturnType<Make>>,
  text: string,
  server: FakeClock,
  skewMs: number,
) {
  const clock = new FakeClock({ nowMs: server.now() + skewMs })
  const backend = observed(backendOf(member, { clock, serverTime: () => server.now() }))
  const source = new TextSource(text)
  const loaded = policies<Request, FetchReply>(source, { attributes: { plan: () => 'free' } })
  const limit = rateLimit({ ...loaded, clock, backend, scope: 'units' })
  const handle = limit.wrap(() => new Response('ok'))
  return {
    clock,
    limit,
    ask: async () => (await handle(new Request('http://x/'), { ip: KEY })).status,
    left: async () => (await limit.limiter.peek(KEY, 0)).binding.remaining,
    reload: async (next: string) => {
      source.text = next
      await loaded.policies.reload()
    },
    close: async () => {
      limit.close()
      await backend.close?.()
    },
  }
}

function hasRate({ text }: DrawnPolicy): boolean {
  return /gcra|token-bucket/.test(text)
}

async function history(
  random: SeededRandom,
  seed: number,
  make: Make,
  terms: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const features = new Set<string>()
  const server = new FakeClock({ nowMs: 1_000_000 })
  let policy = drawPolicy(random, features, terms)
  const backendOf = await make()
  const members = Array.from({ length: MEMBERS }, (_, member) =>
    memberOf(member, backendOf, policy.text, server, (random.whole(3) - 1) * random.whole(100_000)),
  )
  const advance = (ms: number): void => {
    for (const { clock } of [{ clock: server }, ...members]) clock.advance(ms)
  }
  const log: string[] = []
  const check = (law: string, kept: boolean): void => {
    expect([seed, law, kept, log.slice(-6)]).toEqual([seed, law, true, log.slice(-6)])
  }
  /** Returns the units that are left, which must be the same for all members. */
  const left = async (): Promise<number> => {
    await answered()
    const all: number[] = []
    for (const one of members) all.push(await one.left())
    check(`all members see the same count, ${all}`, new Set(all).size === 1)
    return all[0]
  }
  let taken = hasRate(policy) ? Number.POSITIVE_INFINITY : 0
  /** Sends a request through a member. Returns its status. */
  const ask = async (one: (typeof members)[number]): Promise<number> => {
    const status = await one.ask()
    if (status === 200) taken++
    return status
  }
  // a process knows the plan of a client after its first request
  for (const one of members) await ask(one)
  for (let step = 0; step < STEPS; step++) {
    const kind = random.pick(['ask', 'ask', 'ask', 'denied', 'refund', 'reset', 'ban', 'reload', 'pass'] as const)
    const one = random.pick(members)
    const before = await left()
    log.push(`${kind} by ${members.indexOf(one)}, ${before} left: ${policy.text}`)
    if (kind === 'ask') {
      const isAllowed = (await ask(one)) === 200
      // units may be booked by clients that were denied
      const isBooked = policy.text.includes('booked')
      check('a request passes if a unit is left', isBooked ? before > 0 || !isAllowed : isAllowed === before > 0)
    } else if (kind === 'denied') {
      check('a denial costs nothing', !(await one.limit.limiter.take(KEY, policy.limit + 1)).allowed)
      check('a denial costs nothing', (await left()) === before)
    } else if (kind === 'refund') {
      const decision = await one.limit.limiter.take(KEY, 1)
      if (decision.allowed) await random.pick(members).limit.limiter.charge(KEY, -1, decision)
      check(`a refund gives back what was taken, of ${before}, ${await left()}`, Math.abs((await left()) - before) <= 1)
    } else if (kind === 'reset') {
      await one.limit.limiter.reset(KEY)
      taken = hasRate(policy) ? Number.POSITIVE_INFINITY : 0
      check('a reset frees the key', (await left()) === policy.limit)
    } else if (kind === 'ban') {
      if (!policy.text.includes('"ban"')) continue
      await one.limit.limiter.ban(KEY, BAN_MS)
      for (const other of members) check('a ban holds everywhere', (await other.ask()) === 429)
      // units that requests of a banned key took return in a call that nothing waits for
      await answered()
      advance(BAN_MS + 1)
      check(`a ban ends, ${await left()} of ${before}`, (await left()) >= before)
    } else if (kind === 'reload') {
      const next = drawPolicy(random, features, terms)
      const used = policy.limit - before
      log.push(`reload to ${next.text}`)
      for (const other of members) {
        await other.reload(next.text)
        await ask(other)
      }
      policy = next
      const kept = policy.limit - (await left())
      check(`what was used stays used: ${used}, then ${kept}`, used === 0 || kept >= Math.min(used, policy.limit) - 1)
      // with a rate, another limit keeps the used part of the limit, not the units
      if (hasRate(policy)) taken = Number.POSITIVE_INFINITY
      check(`no more is used than was taken: ${taken}, then ${kept}`, kept <= taken)
    } else advance(random.whole(policy.windowMs))
  }
  advance(LONGEST_MS)
  check('an idle key is unused', (await left()) === policy.limit)
  for (const one of members) await one.close()
}

test.each(Object.entries(storages))('reloads, bans and clocks of a fleet on %s keep the laws', (name, make) =>
  eachSeed(RUNS, (random, seed) => history(random, seed, make, name === 'Redis' ? REDIS_TERMS : TERMS)),
)
