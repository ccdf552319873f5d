import { randomUUID } from 'node:crypto'
import type {
  BatchReceipt,
  CounterDeltas,
  CounterReading,
  CounterReceipt,
  Counters,
  IncrementOptions,
  ReadManyOptions,
  ReadOptions,
} from '@sluice/fleet/backend'
import { badOption, optionsOf, parseMs, SluiceError } from '@sluice/limiter-core/backend'
import { checkDelta, foldedDeltas } from '../../counter-delta.ts'
import { checkId, checkPrefix } from '../../counter-id.ts'
import { tokenOf } from '../../counter-token.ts'
import { listPage } from '../../list-page.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { MAX_BODY_BYTES } from '../request-bytes.ts'
import type { ClientCalls, ClientRequest } from './client-request.ts'
import { batchReceiptIn, readingIn, readingsIn, receiptIn, sumIn } from './response-body.ts'

export interface HttpCountersOptions {
  readonly retries: number
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>
}

/** Counters of a remote service. */
export class HttpCounters implements Counters {
  readonly #calls: ClientCalls
  readonly #options: HttpCountersOptions
  /** Whether there are increments that may not be durable yet. */
  #isUnflushed = false
  #closing: Promise<void> | undefined

  constructor(calls: ClientCalls, options: HttpCountersOptions) {
    this.#calls = calls
    this.#options = options
  }

  async increment(id: string, delta = 1, options: IncrementOptions = {}): Promise<CounterReceipt> {
    checkId(id)
    checkDelta(delta)
    const path = `${pathOf(id)}/increment`
    const amounts = new Map([[id, delta]])
    return counting(receiptIn(await this.#count(path, { delta }, { amounts, options })), options)
  }

  async incrementMany(deltas: CounterDeltas, options: IncrementOptions = {}): Promise<BatchReceipt> {
    const amounts = foldedDeltas(deltas)
    // rejects ids that the service could count but no URL could read
    for (const id of amounts.keys()) pathOf(id)
    const body = { deltas: [...amounts] }
    return counting(batchReceiptIn(await this.#count('/counters/batch', body, { amounts, options })), options)
  }

  async read(id: string, options: ReadOptions = {}): Promise<CounterReading> {
    checkId(id)
    const { maxAgeMs } = optionsOf('read', options, ['maxAgeMs'])
    const query = maxAgeMs === undefined ? '' : `?maxAgeMs=${Math.floor(parseMs(maxAgeMs, 'read: maxAgeMs'))}`
    return readingIn(await this.#get(`${pathOf(id)}${query}`))
  }

  async readMany(prefix: string, options: ReadManyOptions = {}): Promise<readonly CounterReading[]> {
    const { after, limit } = listPage(prefix, options)
    const page = after === undefined ? '' : `&after=${encoded(after, 'after')}`
    return readingsIn(await this.#get(`/counters?prefix=${encoded(prefix, 'prefix')}&limit=${limit}${page}`))
  }

  async aggregate(prefix: string, kind = 'sum'): Promise<number> {
    checkPrefix(prefix)
    if (kind !== 'sum') throw badOption('aggregate: kind', kind, "'sum'")
    return sumIn(await this.#get(`/counters/${encoded(prefix, 'prefix')}*/aggregate`))
  }

  async reset(id: string): Promise<void> {
    checkId(id)
    await this.#send({ method: 'POST', path: `${pathOf(id)}/reset`, repeatable: false })
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.#send({ method: 'DELETE', path: pathOf(id), repeatable: false })
  }

  async flush(): Promise<void> {
    this.#checkOpen()
    await this.#flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#isUnflushed ? this.#flush() : Promise.resolve()
    return this.#closing
  }

  async #flush(): Promise<void> {
    this.#isUnflushed = false
    try {
      await this.#calls.send({
        method: 'POST',
        path: '/counters/flush',
        headers: this.#options.headers,
        repeatable: true,
      })
    } catch (error) {
      this.#isUnflushed = true
      throw error
    }
  }

  async #count(
    path: string,
    fields: object,
    { amounts, options }: { readonly amounts: ReadonlyMap<string, number>; readonly options: IncrementOptions },
  ): Promise<string> {
    const { token, durable = false } = optionsOf('increment', options, ['token', 'durable'])
    if (typeof durable !== 'boolean') throw badOption('increment: durable', durable, 'true or false')
    // throws for an invalid token
    if (token !== undefined) tokenOf(token, amounts)
    const sent = token ?? (this.#options.retries > 0 ? randomUUID() : undefined)
    const body = JSON.stringify(durable ? { ...fields, durable } : fields)
    checkSize(body)
    const headers = {
      'Content-Type': 'application/json',
      ...(sent !== undefined && { 'Idempotency-Key': keyOf(sent) }),
    }
    this.#isUnflushed = true
    return this.#send({ method: 'POST', path, headers, body, repeatable: sent !== undefined })
  }

  #get(path: string): Promise<string> {
    return this.#send({ method: 'GET', path, repeatable: true })
  }

  async #send({ headers, ...request }: Omit<ClientRequest, 'headers'> & Partial<ClientRequest>): Promise<string> {
    this.#checkOpen()
    return this.#calls.send({ ...request, headers: { ...this.#options.headers, ...headers } })
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new SluiceError('SLUICE_COUNTERS_CLOSED', 'counterClient: this client is closed')
  }
}

/**
 * Marks an increment without a caller's token as counted: if its random token is a duplicate, an earlier attempt of the
 * same call was counted but its reply was lost.
 */
function counting<R extends CounterReceipt | BatchReceipt>(receipt: R, { token }: IncrementOptions): R {
  return token === undefined ? { ...receipt, counted: true } : receipt
}

function pathOf(id: string): string {
  if (id === '.' || id === '..') {
    throw new SluiceError('SLUICE_BAD_COUNTER_ID', "id: expected an id that a URL can contain, received '.' or '..'")
  }
  return `/counters/${encoded(id, 'id')}`
}

/** Percent-encodes a string. Throws `SLUICE_BAD_COUNTER_ID` for a lone surrogate. */
function encoded(text: string, what: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new SluiceError('SLUICE_BAD_COUNTER_ID', `${what}: expected valid Unicode, received a lone surrogate`)
  }
}

function keyOf(token: string): string {
  try {
    return idempotencyKeyOf(token)
  } catch {
    throw new SluiceError('SLUICE_BAD_TOKEN', 'token: expected valid Unicode, received a lone surrogate')
  }
}

function checkSize(body: string): void {
  const bytes = Buffer.byteLength(body)
  if (bytes <= MAX_BODY_BYTES) return
  const expected = `at most ${MAX_BODY_BYTES} bytes of JSON`
  throw new SluiceError('SLUICE_BAD_DELTA', `deltas: expected ${expected}, received ${bytes}; split the batch`)
}
