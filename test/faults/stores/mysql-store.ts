import { storeBackend } from '@sluice/stores'
import { mysqlStore } from '@sluice/stores/mysql'
import { createPool, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { type MysqlServer, startMysql } from '../../services/mysql/mysql-server.ts'
import type { StoreAddress } from '../children/opened-backend.ts'
import type { Refusal, ServerFault, StoreKind, StoreServer } from './store-server.ts'

/** The user of the applications, without the privileges that exempt `root` from faults. */
const USER = "'limits'@'127.0.0.1'"

/** A MariaDB whose counts survive a crash. */
class MysqlStore implements StoreServer {
  readonly server: MysqlServer
  /** The session that holds locks. */
  session: PoolConnection | undefined
  #admin: Pool | undefined
  #backend: ReturnType<typeof storeBackend> | undefined

  private constructor(server: MysqlServer) {
    this.server = server
  }

  static async start(): Promise<MysqlStore> {
    const store = new MysqlStore(await startMysql())
    await mysqlStore(store.admin).migrate()
    await store.run(`CREATE USER ${USER}`, `GRANT SELECT, INSERT, UPDATE, DELETE ON limits.* TO ${USER}`)
    return store
  }

  get port(): number {
    return this.server.address.port
  }

  /** The pool that causes faults. */
  get admin(): Pool {
    this.#admin ??= createPool(this.server.address)
    return this.#admin
  }

  addressAt(port: number): StoreAddress {
    return { store: 'mysql', port }
  }

  backend(): ReturnType<typeof storeBackend> {
    this.#backend ??= storeBackend(mysqlStore(this.admin))
    return this.#backend
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

  accepted(): Promise<number> {
    return this.#status('Connections')
  }

  /** Runs statements one after the other. */
  async run(...statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.admin.query(statement)
  }

  /** Closes the connections of the applications. */
  async disconnectApplications(): Promise<void> {
    const [rows] = await this.admin.query<RowDataPacket[]>('SHOW PROCESSLIST')
    for (const { Id, User } of rows) if (User === 'limits') await this.run(`KILL ${Id}`).catch(() => {})
  }

  async stop(): Promise<void> {
    // not awaited: a pool waits for connections that the server does not close
    void this.#admin?.end().catch(() => {})
    await this.server.stop()
  }

  async #status(name: string): Promise<number> {
    const [[row]] = await this.admin.query<RowDataPacket[]>(`SHOW GLOBAL STATUS LIKE '${name}'`)
    return Number(row.Value)
  }
}

function locked(fault: string, lock: string, appliesLate: boolean): ServerFault<MysqlStore> {
  return {
    fault,
    appliesLate,
    begin: async (store) => {
      store.session = await store.admin.getConnection()
      await store.session.query(lock)
    },
    end: async (store) => {
      await store.session?.query('UNLOCK TABLES')
      store.session?.release()
    },
  }
}

function refusal(fault: string, begin: readonly string[], end: readonly string[]): Refusal<MysqlStore> {
  return { fault, told: 'STORE', begin: (store) => store.run(...begin), end: (store) => store.run(...end) }
}

export const mysqlKind: StoreKind<MysqlStore> = {
  name: 'MariaDB',
  crash: ['killed (kill -9)', 'restarted with its data'],
  counts: 'kept',
  connections: 10,
  // a decision needs two round trips on one of the ten connections, and again after a conflict with the other process
  nearMs: [5],
  nearDeadlineMs: 250,
  silentBackMs: 2_100,
  start: () => MysqlStore.start(),
  stalls: [
    locked('the table in MariaDB locked (LOCK TABLES … WRITE)', 'LOCK TABLES sluice_rows WRITE', false),
    locked('MariaDB locked for writes (FLUSH TABLES WITH READ LOCK)', 'FLUSH TABLES WITH READ LOCK', true),
  ],
  refusals: [
    refusal('MariaDB is read-only (1290)', ['SET GLOBAL read_only = ON'], ['SET GLOBAL read_only = OFF']),
    refusal(
      'a table of MariaDB is missing (1146)',
      ['RENAME TABLE sluice_rows TO away'],
      ['RENAME TABLE away TO sluice_rows'],
    ),
    {
      fault: 'the password in MariaDB changes, and connections end (1045)',
      told: 'STORE',
      begin: async (store) => {
        await store.run(`ALTER USER ${USER} IDENTIFIED BY 'secret'`)
        await store.disconnectApplications()
      },
      end: (store) => store.run(`ALTER USER ${USER} IDENTIFIED BY ''`),
    },
    {
      fault: 'no connection to MariaDB is left (1040)',
      told: 'STORE',
      begin: async (store) => {
        await store.run(`GRANT USAGE ON *.* TO ${USER} WITH MAX_USER_CONNECTIONS 1`)
        await store.disconnectApplications()
      },
      end: (store) => store.run(`GRANT USAGE ON *.* TO ${USER} WITH MAX_USER_CONNECTIONS 0`),
    },
  ],
}
