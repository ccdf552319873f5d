import type { IncomingMessage } from 'node:http'
import type { RequestSluice } from '@sluice/http'

const LIFE: unique symbol = Symbol.for('sluice.life') as never

/** A request. Streams of Node have an object with their state; objects in place of a request, in tests, may not. */
type Request = IncomingMessage & { readonly _readableState?: { [LIFE]?: RequestSluice | undefined } }

/** The prototype of requests that was prepared last: nearly always that of the only application. */
let prepared: object | undefined

/** Returns the lifecycle of a request; undefined before `setLife`. */
export function lifeOf(req: Request): RequestSluice | undefined {
  const { _readableState: state } = req
  return state ? state[LIFE] : req.sluice
}

/**
 * Stores the lifecycle of a request and makes it available as `req.sluice`. Express replaces the prototype of each
 * request. V8 before version 12 then needs 3 µs to add a property and 1 µs to find out that there is none, so the
 * property is an accessor of the requests of the application (`app.request`), and the value is stored in the state
 * that the stream has anyway.
 */
export function setLife(req: Request, life: RequestSluice): void {
  const { _readableState: state } = req
  if (state) state[LIFE] = life
  const requests: object = Object.getPrototypeOf(req)
  if (state && (requests === prepared || prepare(requests))) return
  req.sluice = life
}

/** Adds the accessor to the requests of an Express application. Returns false for other requests. */
function prepare(requests: object): boolean {
  // Express extends the prototype of its requests by `app`
  if (!Object.hasOwn(requests, 'app') || !Object.isExtensible(requests)) return false
  if (!('sluice' in requests)) Object.defineProperty(requests, 'sluice', ACCESSOR)
  prepared = requests
  return true
}

const ACCESSOR: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: Request) {
    return this._readableState?.[LIFE]
  },
  set(this: Request, life: RequestSluice) {
    if (this._readableState) this._readableState[LIFE] = life
  },
}
