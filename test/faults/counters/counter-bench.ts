import { postgresLedger } from '@sluice/counters/postgres'
import type { Pool } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import type { FaultTimes } from '../fleet.ts'
import type { Findings } from '../report/findings.ts'
import type { Form, Group, Row } from '../report/row.ts'
import { countsEachOnce, type Expectation } from './counter-bounds.ts'
import { CountingFleet, type FleetSite, type PassedFault } from './counting-fleet.ts'

/**
 * A deadlock is detected before calls time out, and after it was provoked. Autovacuum is off, so that it frees no space
 * on a full disk.
 */
const ARGS = ['-c', 'deadlock_timeout=200ms', '-c', 'autovacuum=off']

/** Processes with counters that share one Redis and one PostgreSQL. */
export interface CounterBench {
  readonly fleet: CountingFleet
  readonly redis: RedisServer
  readonly postgres: PostgresServer
  /** Connections of the test itself that bypass all proxies. */
  readonly pool: Pool
}

export function counterGroup(name: string, rows: readonly Row<CounterBench>[]): Group<CounterBench> {
  return {
    name,
    rows,
    start: async () => {
      const [postgres, redis] = await Promise.all([startPostgres({ fsync: false, args: ARGS }), startRedis()])
      const pool = postgres.pool()
      await postgresLedger(pool).migrate()
      return { fleet: CountingFleet.start(), redis, postgres, pool }
    },
    stop: async ({ fleet, redis, postgres }) => {
      await fleet.stop()
      await redis.stop()
      await postgres.stop()
    },
  }
}

/** Returns the URL of the PostgreSQL server, or of a proxy to it, on the given port. */
export function postgresUrlOf({ port }: { readonly port: number }): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

/** How long calls wait for the ledger. The long form uses the default. */
export function waitMsIn(form: Form): number {
  return form === 'long' ? 5_000 : 700
}

/** How long units wait for a batch. */
export function flushMsIn(form: Form): number {
  return form === 'long' ? 1_000 : 200
}

export interface CounterFault extends Expectation {
  readonly fault: () => Promise<FaultTimes>
  readonly site?: Partial<FleetSite>
}

/** Opens all counters, lets them count through the fault, and checks the result against the guarantees. */
export async function countThrough(
  { fleet, redis, postgres, pool }: CounterBench,
  findings: Findings,
  { fault, site = {}, ...expected }: CounterFault,
): Promise<PassedFault> {
  await fleet.open({
    postgresUrl: postgres.url,
    redisUrl: redis.url,
    waitMs: waitMsIn(expected.form),
    flushMs: flushMsIn(expected.form),
    ...site,
  })
  const passed = await fleet.through(fault, { calmMs: expected.form === 'long' ? 300 : 150, ledger: pool })
  countsEachOnce(findings, passed, expected)
  return passed
}
