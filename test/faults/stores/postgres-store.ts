import { postgresBackend } from '@sluice/postgres'
import type { Pool, PoolClient } from 'pg'
import { type PostgresServer, startPostgres } from '../../services/postgres/postgres-server.ts'
import type { StoreAddress } from '../children/opened-backend.ts'
import type { ServerFault, StoreKind, StoreServer } from './store-server.ts'

/** A PostgreSQL whose counts survive a crash. */
class PostgresStore implements StoreServer {
  readonly server: PostgresServer
  /** The session that holds locks. */
  session: PoolClient | undefined
  #admin: Pool | undefined

  private constructor(server: PostgresServer) {
    this.server = server
  }

  static async start(): Promise<PostgresStore> {
    const server = await startPostgres({ fsync: false })
    await postgresBackend(server.pool()).migrate()
    return new PostgresStore(server)
  }

  get port(): number {
    return this.server.port
  }

  /** The pool that causes faults. */
  get admin(): Pool {
    this.#admin ??= this.server.pool()
    return this.#admin
  }

  addressAt(port: number): StoreAddress {
    return { store: 'postgres', port }
  }

  backend(): ReturnType<typeof postgresBackend> {
    return postgresBackend(this.server.pool())
  }

  pause(): void {
    this.server.pause()
  }

  resume(): void {
    this.server.resume()
  }

  kill(): Promise<void> {
    return this.server.kill()
  }

  start(): Promise<void> {
    return this.server.start()
  }

  async accepted(): Promise<number> {
    const sessions = "select sessions::int as count from pg_stat_database where datname = 'postgres'"
    const { rows } = await this.admin.query(sessions)
    return rows[0].count
  }

  stop(): Promise<void> {
    return this.server.stop()
  }
}

function locked(mode: string): ServerFault<PostgresStore> {
  return {
    fault: `the tables of PostgreSQL locked (${mode})`,
    begin: async (store) => {
      store.session = await store.admin.connect()
      await store.session.query(`begin; lock table sluice.limits in ${mode} mode`)
    },
    end: async (store) => {
      await store.session?.query('rollback')
      store.session?.release()
    },
  }
}

export const postgresKind: StoreKind<PostgresStore> = {
  name: 'PostgreSQL',
  crash: ['killed (kill -9)', 'restarted with its data'],
  counts: 'kept',
  connections: 10,
  nearMs: [5],
  nearDeadlineMs: 250,
  // the first statement of a new session may take longer than a deadline, and the probe is then repeated at once
  backMs: 1_300,
  // a connection to a silent network is replaced after a second
  silentBackMs: 2_100,
  // rows that a busy machine fails: the first statements of a new session take longer than a deadline there
  start: () => PostgresStore.start(),
  stalls: [locked('access exclusive')],
  refusals: [],
}
