import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type InflightHandle,
  type InflightLimitOptions,
  LIMIT_PLACES,
  type RateHandle,
  type RateLimitOptions,
} from '@sluice/http'
import { kindOf, optionsOf, SluiceError } from '@sluice/limiter-core/http'
import type { ConnectMiddleware, WrappedHandler } from './connect/connect.ts'
import { RequestLifecycle } from './lifecycle/request-lifecycle.ts'
import { inflightLimit, rateLimit } from './node-http.ts'

type RateOptions = RateLimitOptions<IncomingMessage, ServerResponse>
type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>
type Limit = Middleware & { close(): void }
type Handler = WrappedHandler<IncomingMessage, ServerResponse>

/** Options of `guardContinue`; at least one is required. */
export interface ContinueGuardOptions {
  /**
   * Options, or the limiter of this package that is already in front of the handler. An existing limiter counts each
   * request once, in the guard or in front of the handler.
   */
  readonly rateLimit?: RateOptions | (Middleware & RateHandle) | undefined
  /** Options, or the cap of this package that is already in front of the handler. */
  readonly inflightLimit?:
    | InflightLimitOptions<IncomingMessage, ServerResponse>
    | (Middleware & InflightHandle)
    | undefined
}

export interface ContinueGuard {
  /** Removes the guard from the server. Limiters that were passed in stay open. */
  close(): void
}

const NAMES = ['rateLimit', 'inflightLimit'] as const

/** A `node:http`, `node:https` or `node:http2` server. */
type Server = Pick<EventEmitter, 'on' | 'off' | 'emit' | 'listenerCount'>

/**
 * Limits requests with `Expect: 100-continue` before their body is sent. A denied request is answered before the
 * upload; any other request receives `100 Continue` and is emitted as a `request` of the server. Throws coded errors
 * for invalid options, and if the server already has a `checkContinue` listener, which would request every body.
 */
export function guardContinue(server: Server, options: ContinueGuardOptions): ContinueGuard {
  const { rateLimit: rate, inflightLimit: cap } = optionsOf('guardContinue', options, NAMES, LIMIT_PLACES)
  if (rate === undefined && cap === undefined) throw bad('options', 'neither', 'rateLimit, inflightLimit or both')
  checkServer(server)
  const limits = [
    limitOf('rateLimit', rate, (options: RateOptions) => rateLimit(options)),
    limitOf('inflightLimit', cap, inflightLimit),
  ].flat()
  const listener = limits.reduceRight<Handler>(
    (next, limit) => limit.wrap(next),
    (req, res) => {
      RequestLifecycle.of(req, res).allowSecondRun()
      res.writeContinue()
      server.emit('request', req, res)
    },
  )
  server.on('checkContinue', listener)
  return {
    close: () => {
      server.off('checkContinue', listener)
      for (const limit of limits) if (limit !== rate && limit !== cap) limit.close()
    },
  }
}

/** Returns the limiter that was passed in, a limiter created from options, or none. */
function limitOf<Options>(
  option: string,
  given: Options | Limit | undefined,
  make: (options: Options) => Limit,
): Limit[] {
  if (given === undefined) return []
  if (typeof given !== 'function') return [make(given as Options)]
  if (typeof (given as Limit).wrap !== 'function')
    throw bad(option, kindOf(given), `options or a limiter created by ${option}(options)`)
  return [given as Limit]
}

function checkServer(server: Server): void {
  if (typeof server?.listenerCount !== 'function' || typeof server.emit !== 'function') {
    throw bad('server', kindOf(server), 'an HTTP server')
  }
  if (server.listenerCount('checkContinue') > 0) {
    throw bad(
      'server',
      'a server with a checkContinue listener, which would request the bodies of denied requests',
      'a server without a checkContinue listener',
    )
  }
}

function bad(option: string, received: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `guardContinue: ${option}: expected ${expected}, received ${received}`)
}
