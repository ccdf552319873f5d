import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Admission } from '@sluice/http'
import type { MaybePromise } from '@sluice/limiter-core'
import { PlainExchange } from '../node-http.ts'
import { UpgradeLife } from './upgrade-life.ts'

/** A listener for `upgrade` events. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown

/** Outcome of the limits for an upgrade. */
export type UpgradeAdmission = Admission<IncomingMessage, ServerResponse>

/** Checks all limits. */
export type UpgradeCheck = (exchange: PlainExchange) => MaybePromise<UpgradeAdmission>

class UpgradeExchange extends PlainExchange {
  // browsers never send a preflight with an upgrade; a client that sends OPTIONS would get the separate preflight count
  override get method(): string {
    return 'GET'
  }
}

/** Creates the exchange of an upgrade. Its response is sent only if the upgrade is denied. */
export function upgradeExchange(req: IncomingMessage, socket: Duplex): PlainExchange {
  // there may be no other listener yet, and a reset by the client must not crash the process
  socket.on('error', ignore)
  UpgradeLife.of(req, socket)
  // a server that upgrades requests has loaded the module; most users of this package have no reason to load it early
  const { ServerResponse: Response } = process.getBuiltinModule('node:http')
  const res = new Response(req)
  return new UpgradeExchange(req, res, req, res)
}

const ignore = (): void => {}
