import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isPromise, warnOnce } from '@sluice/limiter-core/http'
import { afterCheck } from '../connect/after-check.ts'
import { denyUpgrade } from './deny-upgrade.ts'
import { watchWhileUnread } from './unread-socket.ts'
import { type UpgradeAdmission, type UpgradeCheck, type UpgradeListener, upgradeExchange } from './upgrade-exchange.ts'
import { UpgradeLife } from './upgrade-life.ts'

const EXPECTED = 'expected limitUpgrade(options, upgrade), which runs upgrade for those alone who pass'
const TOO_LATE = `limitUpgrade: got another 'upgrade' listener before it, which upgrades whom it denies: ${EXPECTED}`
// registered: two versions of a package may meet in one process
const BESIDE = Symbol.for('sluice.upgradeBesideOthers')
const CANNOT_WAIT = `limitUpgrade: got an answer that comes later, and other listeners do not wait: ${EXPECTED}`

/**
 * A listener beside the server's others, which run whatever this one finds. Who is denied is answered where nobody can
 * have written to the socket before, else cut off.
 */
export function besideOthers(check: UpgradeCheck): UpgradeListener {
  const listener = function (this: unknown, req: IncomingMessage, socket: Duplex): unknown {
    // another limit has answered already
    if (!socket.writable) return undefined
    const exchange = upgradeExchange(req, socket)
    const first = isFirst(this, listener)
    const written = bytesWritten(socket)
    const go = (admission: UpgradeAdmission): void => {
      if (admission === 'gone' || exchange.life.gone) return
      if (typeof admission !== 'object') {
        UpgradeLife.of(req, socket).begin()
        watchWhileUnread(socket)
      } else if (first && bytesWritten(socket) === written) denyUpgrade(exchange, socket, admission)
      else socket.destroy()
    }
    const admission = check(exchange)
    if (!isPromise(admission)) return go(admission)
    warnOnce('SLUICE_BAD_OPTION', CANNOT_WAIT, 'limitUpgrade waits')
    return void afterCheck(admission, go, undefined)
  }
  return Object.assign(listener, { [BESIDE]: true })
}

/** Limits that are beside others may come first: they leave alone who passes. */
function isFirst(server: unknown, listener: object): boolean {
  if (!(server instanceof EventEmitter)) return true
  const listeners = server.listeners('upgrade')
  const first = listeners.slice(0, listeners.indexOf(listener as never)).every((one) => BESIDE in one)
  if (!first) warnOnce('SLUICE_BAD_OPTION', TOO_LATE, 'limitUpgrade first')
  return first
}

function bytesWritten(socket: Duplex): number | undefined {
  return (socket as Partial<Socket>).bytesWritten
}
