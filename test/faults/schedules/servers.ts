import type { Cluster, Redis } from 'ioredis'
import { stopAll } from '../../services/all-started.ts'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'
import { startProxy, type TcpProxy } from '../../services/tcp-proxy.ts'
import type { Address } from './member.ts'

/** Begins a fault, for a member or for all. Answers how to end it. */
export type Fault = (member: number, strength: number) => Promise<() => Promise<void>>

/** The servers of a schedule, and what may befall them. */
export interface Servers {
  readonly faults: Readonly<Record<string, Fault>>
  addressOf(member: number): Address
  /** For whoever asks beside the members. */
  readonly admin: Redis | Cluster
  stop(): Promise<void>
}

/** It is done, and nothing is to be ended. */
const OVER = async (): Promise<void> => {}

const ARGS = ['--enable-debug-command', 'yes']

/** One Redis, to which each member has a path of its own. */
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

  /** It writes down what it counts, so that a crash loses nothing that it acknowledged. */
  static async startDurable(members: number, random: () => number): Promise<Servers> {
    const single = await SingleServer.start(members, random, ['--appendonly', 'yes', '--appendfsync', 'no'])
    return single.with({ crash: crash(single.server) })
  }

  /** It loses all that it counted, again and again. */
  static async startForgetful(members: number, random: () => number): Promise<Servers> {
    const single = await SingleServer.start(members, random)
    const { admin, server } = single
    // nobody hears of a flush by itself
    const flush: Fault = async () => {
      await admin.multi().flushall().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').exec()
      return OVER
    }
    return single.with({ crash: crash(server), flush })
  }

  addressOf(member: number): Address {
    return { url: (this.paths[member] as TcpProxy).url }
  }

  /** The same servers, and more faults. */
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

/** Those that need no server that answers. */
export const PATH_FAULTS: readonly string[] = ['reset', 'end', 'silence', 'refusal', 'delay', 'loss']

/** What befalls the way of one member. */
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

/** What befalls a server that loses nothing by it. */
export function serverFaults(server: RedisServer, admin: Redis): Readonly<Record<string, Fault>> {
  // its answer comes when the fault is over
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
