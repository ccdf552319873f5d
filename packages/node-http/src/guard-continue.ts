import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type InflightLimitOptions,
  kindOf,
  optionsOf,
  type RateLimitOptions,
  SluiceError,
} from '@sluice/limiter-core/http'
import type { ConnectMiddleware, WrappedHandler } from './connect/connect.ts'
import { RequestLifecycle } from './lifecycle/request-lifecycle.ts'
import type { InflightHandle, RateHandle } from './limits/http-limit.ts'
import { inflightLimit, rateLimit } from './node-http.ts'

type Middleware = ConnectMiddleware<IncomingMessage, ServerResponse>
type Limit = Middleware & { close(): void }
type Handler = WrappedHandler<IncomingMessage, ServerResponse>

/** Options of `guardContinue`: one of the two at least. */
export interface ContinueGuardOptions {
  /** Options, or the very limiter of `node:http` that is in front of the handler: a request counts once in it. */
  readonly rateLimit?: RateLimitOptions<IncomingMessage, ServerResponse> | (Middleware & RateHandle) | undefined
  /** As `rateLimit`: options, or the cap that is in front of the handler. */
  readonly inflightLimit?:
    | InflightLimitOptions<IncomingMessage, ServerResponse>
    | (Middleware & InflightHandle)
    | undefined
}

export interface ContinueGuard {
  /** Leaves the server as it was. Limiters that were handed in go on. */
  close(): void
}

/** A server of `node:http`, `node:https` or `node:http2`. */
type Server = Pick<EventEmitter, 'on' | 'off' | 'emit' | 'listenerCount'>

/**
 * Limits requests that ask by `Expect: 100-continue` whether to send their body: a denied one is answered before the
 * upload, any other is told to go on and becomes a request of the server. Throws coded errors for bad options, and for
 * a server that has a `checkContinue` listener: it would ask for the body whatever this one finds.
 */
export function guardContinue(server: Server, options: ContinueGuardOptions): ContinueGuard {
  const { rateLimit: rate, inflightLimit: cap } = optionsOf('guardContinue', options, ['rateLimit', 'inflightLimit'])
  if (rate === undefined && cap === undefined) throw bad('options', kindOf(options), 'rateLimit or inflightLimit in it')
  checkServer(server)
  const limits = [limitOf('rateLimit', rate, rateLimit), limitOf('inflightLimit', cap, inflightLimit)].flat()
  const listener = limits.reduceRight<Handler>(
    (next, limit) => limit.wrap(next),
    (req, res) => {
      RequestLifecycle.of(req, res).expectAgain()
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

/** None, the limiter that was handed in, or one that is made of options. */
function limitOf<Options>(
  option: string,
  given: Options | Limit | undefined,
  make: (options: Options) => Limit,
): Limit[] {
  if (given === undefined) return []
  if (typeof given !== 'function') return [make(given as Options)]
  if (typeof (given as Limit).wrap !== 'function')
    throw bad(option, kindOf(given), `options, or what ${option}(options) makes`)
  return [given as Limit]
}

function checkServer(server: Server): void {
  if (typeof server?.listenerCount !== 'function' || typeof server.emit !== 'function') {
    throw bad('server', kindOf(server), 'an HTTP server')
  }
  if (server.listenerCount('checkContinue') > 0) {
    throw bad(
      'server',
      'a second checkContinue listener',
      'to be the only one: any other asks for the body all the same',
    )
  }
}

function bad(option: string, got: string, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `guardContinue: ${option}: expected ${expected}, received ${got}`)
}
