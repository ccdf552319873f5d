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

const USE_LISTENER = 'use limitUpgrade(options, upgrade), which runs upgrade only for allowed clients'
const TOO_LATE =
  "limitUpgrade: there is another 'upgrade' listener before it, which also upgrades denied clients; their sockets " +
  `are destroyed; ${USE_LISTENER}`
// Symbol.for: two versions of this package may be loaded in one process
const BESIDE = Symbol.for('sluice.upgradeBesideOthers')
const CANNOT_WAIT =
  'limitUpgrade: a key or a backend decides asynchronously, and other listeners do not wait for it; sockets of ' +
  `denied clients are destroyed if a listener has written to them; ${USE_LISTENER}`

/**
 * Returns an `upgrade` listener that cannot hold back the other listeners of the server. A denied client receives a
 * response if no other listener can have written to its socket before; otherwise the socket is destroyed.
 */
export function besideOtherListeners(check: UpgradeCheck): UpgradeListener {
  const listener = function (this: unknown, req: IncomingMessage, socket: Duplex): unknown {
    // another limit has already denied the upgrade
    if (!socket.writable) return undefined
    const exchange = upgradeExchange(req, socket)
    const first = isFirst(this, listener)
    const written = bytesWritten(socket)
    const go = (admission: UpgradeAdmission): void => {
      if (admission === 'gone' || exchange.life.gone) return
      if (typeof admission !== 'object') {
        UpgradeLife.of(req, socket).begin()
        watchWhileUnread(req, socket)
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

/** Ignores earlier listeners of this kind, because they do not write to the sockets of allowed upgrades. */
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
