import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { InflightLimiter, Limiter } from '@sluice/limiter-core'
import {
  InflightGate,
  type InflightLimitOptions,
  isPromise,
  kindOf,
  optionsOf,
  type RateLimitOptions,
  SluiceError,
} from '@sluice/limiter-core/http'
import { afterCheck } from '../connect/after-check.ts'
import { admitAll } from '../limits/admit-all.ts'
import { HttpInflightLimit } from '../limits/http-inflight-limit.ts'
import type { HttpLimit } from '../limits/http-limit.ts'
import { HttpRateLimit } from '../limits/http-rate-limit.ts'
import { denyUpgrade } from './deny-upgrade.ts'
import { besideOthers } from './upgrade-beside-others.ts'
import { type UpgradeAdmission, type UpgradeCheck, type UpgradeListener, upgradeExchange } from './upgrade-exchange.ts'
import { UpgradeLife } from './upgrade-life.ts'
import { WaitingSocket } from './waiting-socket.ts'

/** A cap on open sockets: a place is held until the socket closes. */
export type SocketCapOptions = Omit<InflightLimitOptions<IncomingMessage, ServerResponse>, 'holdUntil'>

/** Options of `limitUpgrade`: one of the two at least. */
export interface UpgradeLimitOptions {
  /** Upgrades in a window, of each client address unless `key` says otherwise. */
  readonly rateLimit?: RateLimitOptions<IncomingMessage, ServerResponse> | undefined
  /** Sockets open at once. Of several caps, as of the process and of each client, each has a name of its own. */
  readonly inflightLimit?: SocketCapOptions | readonly SocketCapOptions[] | undefined
}

/** A listener for `upgrade`, and what is behind it. */
export interface UpgradeLimit {
  (req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** The limiter of rates: to peek, charge and reset outside of upgrades. */
  readonly limiter: Limiter | undefined
  /** The caps, in the order of the options: to count open sockets. */
  readonly caps: readonly InflightLimiter[]
  close(): void
}

type Limits = HttpLimit<IncomingMessage, ServerResponse>[]

/**
 * Limits upgrades: `server.on('upgrade', limitUpgrade(options, upgrade))`. `upgrade` runs for those that pass, once they
 * have; the others are answered as requests are, and closed. Without it the server's other listeners must come later,
 * and leave a socket alone that is no longer `writable`. Throws coded errors for bad options.
 */
export function limitUpgrade(options: UpgradeLimitOptions, upgrade?: UpgradeListener): UpgradeLimit {
  const { rateLimit, inflightLimit } = optionsOf('limitUpgrade', options, ['rateLimit', 'inflightLimit'])
  if (upgrade !== undefined && typeof upgrade !== 'function') throw bad('upgrade', kindOf(upgrade), 'a function')
  if (rateLimit === undefined && inflightLimit === undefined) {
    throw bad('options', kindOf(options), 'rateLimit or inflightLimit in it')
  }
  const rates = rateLimit === undefined ? [] : [HttpRateLimit.of<IncomingMessage, ServerResponse>(rateLimit)]
  const caps = capsOf(inflightLimit)
  const limits: Limits = [...rates, ...caps]
  const check: UpgradeCheck = (exchange) => admitAll(limits, exchange)
  return Object.assign(upgrade ? inFrontOf(upgrade, check) : besideOthers(check), {
    limiter: rates[0]?.gate.limiter(),
    caps: caps.map(({ gate }) => gate.limiter),
    close: () => {
      for (const limit of limits) limit.close()
    },
  })
}

function inFrontOf(upgrade: UpgradeListener, check: UpgradeCheck): UpgradeListener {
  return (req, socket, head) => {
    // another limit has answered already
    if (!socket.writable) return
    const exchange = upgradeExchange(req, socket)
    const go = (admission: UpgradeAdmission, read: Buffer): void => {
      if (admission === 'gone' || exchange.life.gone || !socket.writable) return
      if (typeof admission === 'object') denyUpgrade(exchange, socket, admission)
      else {
        UpgradeLife.of(req, socket).begin()
        upgrade(req, socket, read)
      }
    }
    const admission = check(exchange)
    if (!isPromise(admission)) return go(admission, head)
    const waiting = new WaitingSocket(socket, head)
    afterCheck(admission, (settled) => go(settled, waiting.done()), undefined)
    return undefined
  }
}

function capsOf(options: UpgradeLimitOptions['inflightLimit']): HttpInflightLimit<IncomingMessage, ServerResponse>[] {
  if (options === undefined) return []
  const caps = [options].flat().map((one) => {
    if (typeof one === 'object' && one !== null && 'holdUntil' in one) {
      throw bad('inflightLimit', 'holdUntil', 'none: a place is held until the socket closes')
    }
    return new InflightGate<IncomingMessage, ServerResponse>(one)
  })
  const names = caps.map(({ limiter }) => limiter.name)
  if (names.length === 0) throw bad('inflightLimit', kindOf(options), 'one cap at least')
  if (new Set(names).size < names.length) {
    throw bad('inflightLimit', names.join(', '), 'a name of its own for each cap')
  }
  return caps.map((gate) => new HttpInflightLimit(gate))
}

function bad(option: string, got: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `limitUpgrade: ${option}: expected ${expected}, received ${got}`)
}
