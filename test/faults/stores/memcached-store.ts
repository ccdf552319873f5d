import { once } from 'node:events'
import { connect } from 'node:net'
import { storeBackend } from '@sluice/stores'
import { memcachedStore } from '@sluice/stores/memcached'
import { MemcacheClient } from 'memcache-client'
import { type MemcachedServer, startMemcached } from '../../services/memcached/memcached-server.ts'
import type { StoreAddress } from '../children/opened-backend.ts'
import type { StoreKind, StoreServer } from './store-server.ts'

/** A memcached that refuses writes when its 2 MB are full. */
const ARGS = ['-M', '-m', '2']
/** Sizes of values in all slab classes that rows of limits use, and more values than a class has room for. */
const FILLERS = [40, 65, 90, 115, 140, 165, 190].flatMap((bytes) =>
  Array.from({ length: 9_000 }, (_, index) => ({ key: `filler:${bytes}:${index}`, bytes })),
)

class MemcachedStore implements StoreServer {
  readonly server: MemcachedServer
  readonly #admin: MemcacheClient

  private constructor(server: MemcachedServer) {
    this.server = server
    this.#admin = new MemcacheClient({ server: server.address, noDelay: true })
  }

  static async start(): Promise<MemcachedStore> {
    return new MemcachedStore(await startMemcached(ARGS))
  }

  get port(): number {
    return this.server.port
  }

  addressAt(port: number): StoreAddress {
    return { store: 'memcached', port }
  }

  backend(): ReturnType<typeof storeBackend> {
    return storeBackend(memcachedStore(this.#admin))
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
    const { STAT } = await this.#admin.cmd<{ readonly STAT: readonly (readonly string[])[] }>('stats')
    return Number(STAT.find(([name]) => name === 'total_connections')?.[1])
  }

  fill(): Promise<void> {
    return this.#run(({ key, bytes }) => `set ${key} 0 0 ${bytes} noreply\r\n${'x'.repeat(bytes)}\r\n`)
  }

  empty(): Promise<void> {
    return this.#run(({ key }) => `delete ${key} noreply\r\n`)
  }

  async stop(): Promise<void> {
    this.#admin.shutdown()
    await this.server.stop()
  }

  /** Sends a command for each filler, and waits until all of them have been executed. */
  async #run(commandOf: (filler: (typeof FILLERS)[number]) => string): Promise<void> {
    const socket = connect(this.port, '127.0.0.1')
    socket.write(`${FILLERS.map(commandOf).join('')}version\r\n`)
    await once(socket, 'data')
    socket.destroy()
  }
}

/**
 * Without R2: memcached has no locks, and no command for which other commands wait. Without a row in which no connection is
 * left: memcached never closes the connection of a client that works.
 */
export const memcachedKind: StoreKind<MemcachedStore> = {
  name: 'Memcached',
  crash: ['killed (kill -9)', 'restarted empty'],
  counts: 'lost',
  connections: 1,
  // a decision needs two round trips, and again after a conflict with the other process
  nearMs: [5],
  nearDeadlineMs: 250,
  // the client replaces a connection without an answer after 1.25 s, and a probe may have opened it just before
  silentBackMs: 2_400,
  start: () => MemcachedStore.start(),
  stalls: [],
  refusals: [
    {
      fault: 'the memory of Memcached is full (`-M`)',
      told: 'STORE',
      begin: (store) => store.fill(),
      end: (store) => store.empty(),
    },
  ],
}
