import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpLimit } from '@sluice/http'
import {
  admitAll,
  HttpInflightLimit,
  HttpRateLimit,
  HttpShed,
  InflightGate,
  type InflightLimitOptions,
  LIMIT_PLACES,
  type RateLimitOptions,
  type ShedHandle,
  type ShedOptions,
} from '@sluice/http'
import type { InflightLimiter, Limiter } from '@sluice/limiter-core'
import { isPromise, kindOf, optionsOf, SluiceError } from '@sluice/limiter-core/http'
import { afterCheck } from '../connect/after-check.ts'
import { denyUpgrade } from './deny-upgrade.ts'
import { watchWhileUnread } from './unread-socket.ts'
import { besideOtherListeners } from './upgrade-beside-others.ts'
import { type UpgradeAdmission, type UpgradeCheck, type UpgradeListener, upgradeExchange } from './upgrade-exchange.ts'
import { UpgradeLife } from './upgrade-life.ts'
import { WaitingSocket } from './waiting-socket.ts'

/** Options of a cap on open sockets. A permit is held until the socket closes. */
export type SocketCapOptions = Omit<InflightLimitOptions<IncomingMessage, ServerResponse>, 'holdUntil'>

/** Options of `limitUpgrade`; at least one is required. */
export interface UpgradeLimitOptions {
  /** Refuses upgrades while the process is overloaded, before the other limits. */
  readonly shed?: ShedOptions<IncomingMessage, ServerResponse> | undefined
  /** Limits upgrades per window. Default key: the client address. */
  readonly rateLimit?: RateLimitOptions<IncomingMessage, ServerResponse> | undefined
  /** Caps open sockets. Several caps, such as one in total and one per client, need different names. */
  readonly inflightLimit?: SocketCapOptions | readonly SocketCapOptions[] | undefined
}

/** A listener for `upgrade` events, with its limiters. */
export interface UpgradeLimit {
  (req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** The rate limiter, to peek, charge and reset outside of upgrades. Undefined without `rateLimit`. */
  readonly limiter: Limiter | undefined
  /** The caps, in the order of the options: to count open sockets. */
  readonly caps: readonly InflightLimiter[]
  /** The shedder, to read its pressure. Undefined without `shed`. */
  readonly shedder: ShedHandle['shedder'] | undefined
  close(): void
}

const NAMES = ['shed', 'rateLimit', 'inflightLimit'] as const

type Limits = HttpLimit<IncomingMessage, ServerResponse>[]

/**
 * Limits upgrades: `server.on('upgrade', limitUpgrade(options, upgrade))`. `upgrade` runs after an upgrade has been
 * allowed; a denied upgrade receives a response like a request, and its connection is closed. Without `upgrade`, other
 * listeners of the server must be registered later and must ignore sockets that are not `writable`. Throws coded errors
 * for invalid options.
 */
export function limitUpgrade(options: UpgradeLimitOptions, upgrade?: UpgradeListener): UpgradeLimit {
  const { shed, rateLimit, inflightLimit } = optionsOf('limitUpgrade', options, NAMES, LIMIT_PLACES)
  if (upgrade !== undefined && typeof upgrade !== 'function') throw bad('upgrade', kindOf(upgrade), 'a function')
  if (shed === undefined && rateLimit === undefined && inflightLimit === undefined) {
    throw bad('options', 'none of them', 'at least one of shed, rateLimit and inflightLimit')
  }
  const sheds = shed === undefined ? [] : [HttpShed.of<IncomingMessage, ServerResponse>(shed)]
  const rates = rateLimit === undefined ? [] : [HttpRateLimit.of<IncomingMessage, ServerResponse>(rateLimit)]
  const caps = capsOf(inflightLimit)
  const limits: Limits = [...sheds, ...rates, ...caps]
  const check: UpgradeCheck = (exchange) => admitAll(limits, exchange)
  const made = Object.assign(upgrade ? inFrontOf(upgrade, check) : besideOtherListeners(check), {
    caps: caps.map(({ gate }) => gate.limiter),
    shedder: sheds[0]?.gate.shedder,
    close: () => {
      for (const limit of limits) limit.close()
    },
  })
  // another limiter takes its place when the policies change
  return Object.defineProperty(made, 'limiter', {
    get: () => rates[0]?.gate.limiter(),
    enumerable: true,
  }) as typeof made & Pick<UpgradeLimit, 'limiter'>
}

function inFrontOf(upgrade: UpgradeListener, check: UpgradeCheck): UpgradeListener {
  return (req, socket, head) => {
    // another limit has already denied the upgrade
    if (!socket.writable) return undefined
    const exchange = upgradeExchange(req, socket)
    const go = (admission: UpgradeAdmission, read: Buffer): unknown => {
      if (admission === 'gone' || exchange.life.gone || !socket.writable) return undefined
      if (typeof admission === 'object') return denyUpgrade(exchange, socket, admission)
      UpgradeLife.of(req, socket).begin()
      watchWhileUnread(req, socket)
      return destroyOnFailure(socket, () => upgrade(req, socket, read))
    }
    const admission = check(exchange)
    if (!isPromise(admission)) return go(admission, head)
    const waiting = new WaitingSocket(socket, head)
    return void afterCheck(admission, (settled) => go(settled, waiting.done()), undefined)
  }
}

/** Runs a listener, and destroys the socket if the listener throws or rejects. The failure surfaces as without a limit. */
function destroyOnFailure(socket: Duplex, run: () => unknown): unknown {
  const failed = (error: unknown): never => {
    socket.destroy()
    throw error
  }
  try {
    const work = run()
    return isPromise(work) ? Promise.resolve(work).catch(failed) : work
  } catch (error) {
    return failed(error)
  }
}

function capsOf(options: UpgradeLimitOptions['inflightLimit']): HttpInflightLimit<IncomingMessage, ServerResponse>[] {
  if (options === undefined) return []
  const caps = [options].flat().map((one) => {
    if (typeof one === 'object' && one !== null && 'holdUntil' in one) {
      throw bad('inflightLimit', 'holdUntil', 'options without holdUntil (permits are held until the socket closes)')
    }
    return new InflightGate<IncomingMessage, ServerResponse>(one)
  })
  const names = caps.map(({ limiter }) => limiter.name)
  if (names.length === 0) throw bad('inflightLimit', kindOf(options), 'at least one cap')
  if (new Set(names).size < names.length) {
    throw bad('inflightLimit', `the names ${names.join(', ')}`, 'a different name for each cap')
  }
  return caps.map((gate) => new HttpInflightLimit(gate))
}

function bad(option: string, received: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `limitUpgrade: ${option}: expected ${expected}, received ${received}`)
}
