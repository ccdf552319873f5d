import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { MaybePromise } from '@sluice/limiter-core'
import type { Admission } from '../limits/http-limit.ts'
import { PlainExchange } from '../node-http.ts'
import { UpgradeLife } from './upgrade-life.ts'

/** Takes what an `upgrade` event tells. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown

/** What becomes of an upgrade. */
export type UpgradeAdmission = Admission<IncomingMessage, ServerResponse>

/** Asks every limit. */
export type UpgradeCheck = (exchange: PlainExchange) => MaybePromise<UpgradeAdmission>

/** An upgrade as limits see it. */
class UpgradeExchange extends PlainExchange {
  // whatever it names: no browser sends a preflight with an upgrade, and one dressed as such would have a second cap
  override get method(): string {
    return 'GET'
  }
}

/** The exchange of an upgrade; its response is sent to those alone who are denied. */
export function upgradeExchange(req: IncomingMessage, socket: Duplex): PlainExchange {
  // nobody else may listen yet, and a client that resets must not end the process
  socket.on('error', ignore)
  UpgradeLife.of(req, socket)
  const res = new ServerResponse(req)
  return new UpgradeExchange(req, res, req, res)
}

const ignore = (): void => {}
