import type { Cluster, Redis } from 'ioredis'
import { stopAll } from '../../services/all-started.ts'
import { startProxy, type TcpProxy } from '../../services/proxies/tcp-proxy.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import type { Address } from './member.ts'

/** Starts a fault for one member or for all. Returns a function that ends it. */
export type Fault = (member: number, strength: number) => Promise<() => Promise<void>>

/** The servers of a schedule and their possible faults. */
export interface Servers {
  readonly faults: Readonly<Record<string, Fault>>
  addressOf(member: number): Address
  /** Connects a client that does not belong to a member. */
  readonly admin: Redis | Cluster
  stop(): Promise<void>
}

/** A fault that is over at once and does not need an end. */
const OVER = async (): Promise<void> => {}

const ARGS = ['--enable-debug-command', 'yes']

/** One Redis, with a separate network path for each member. */
export class SingleServer implements Servers {
  readonly faults: Readonly<Record<string, Fault>>
  readonly admin: Redis
  protected readonly server: RedisServer
  protected readonly paths: readonly TcpProxy[]

  protected constructor(server: RedisServer, paths: readonly TcpProxy[]) {
    this.server = server
    this.paths = paths
    this.admin = server.client()
    this.faults = { ...pathFaults(paths), ...serverFaults(server, this.admin) }
  }

  static async start(members: number, random: () => number, args: readonly string[] = []): Promise<SingleServer> {
    const server = await startRedis({ args: [...ARGS, ...args] })
    const paths = await Promise.all(Array.from({ length: members }, () => startProxy(server.port, { random })))
    return new SingleServer(server, paths)
  }

  /** The server persists every write, so that a crash loses nothing that it acknowledged. */
  static async startDurable(members: number, random: () => number): Promise<Servers> {
    const single = await SingleServer.start(members, random, ['--appendonly', 'yes', '--appendfsync', 'no'])
    return single.with({ crash: crash(single.server) })
  }

  /** The server repeatedly loses all of its counts. */
  static async startForgetful(members: number, random: () => number): Promise<Servers> {
    const single = await SingleServer.start(members, random)
    const { admin, server } = single
    // a flush is not reported to any client
    const flush: Fault = async () => {
      await admin.multi().flushall().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').exec()
      return OVER
    }
    return single.with({ crash: crash(server), flush })
  }

  addressOf(member: number): Address {
    return { url: (this.paths[member] as TcpProxy).url }
  }

  /** Returns the same servers with more faults. */
  with(faults: Readonly<Record<string, Fault>>): Servers {
    return {
      admin: this.admin,
      faults: { ...this.faults, ...faults },
      addressOf: (member) => this.addressOf(member),
      stop: () => this.stop(),
    }
  }

  async stop(): Promise<void> {
    await stopAll([...this.paths, this.server])
  }
}

function crash(server: RedisServer): Fault {
  return async () => {
    await server.kill()
    return () => server.start()
  }
}

/** Faults that do not require the server to answer. */
export const PATH_FAULTS: readonly string[] = ['reset', 'end', 'silence', 'refusal', 'delay', 'loss']

/** Faults of the network path of one member. */
function pathFaults(paths: readonly TcpProxy[]): Readonly<Record<string, Fault>> {
  const on = (begin: (path: TcpProxy, strength: number) => void, end: (path: TcpProxy) => unknown): Fault => {
    return async (member, strength) => {
      const path = paths[member] as TcpProxy
      begin(path, strength)
      return async () => {
        await end(path)
      }
    }
  }
  return {
    reset: on((path) => path.cut('reset'), OVER),
    end: on((path) => path.cut('end'), OVER),
    silence: on(
      (path) => path.blackHole(),
      (path) => path.heal(),
    ),
    refusal: on(
      (path) => {
        path.refuse()
        path.cut()
      },
      (path) => path.accept(),
    ),
    delay: on(
      (path, strength) => path.degrade({ delayMs: Math.round(strength * 60) }),
      (path) => path.heal(),
    ),
    loss: on(
      (path, strength) => path.degrade({ lossShare: strength / 5 }),
      (path) => path.heal(),
    ),
  }
}

/** Faults of a server that lose no data. */
export function serverFaults(server: RedisServer, admin: Redis): Readonly<Record<string, Fault>> {
  // its answer arrives when the fault is over
  const commanded = (...command: [string, ...string[]]): (() => Promise<void>) => {
    void admin.call(...command).catch(() => {})
    return async () => {
      await admin.ping()
    }
  }
  return {
    'kill clients': async () => {
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      return OVER
    },
    'flush scripts': async () => {
      await admin.script('FLUSH')
      return OVER
    },
    stop: async () => {
      server.pause()
      return async () => server.resume()
    },
    pause: async (_, strength) => commanded('CLIENT', 'PAUSE', String(Math.ceil(strength * 500)), 'ALL'),
    sleep: async (_, strength) => commanded('DEBUG', 'SLEEP', String(strength / 2)),
  }
}
