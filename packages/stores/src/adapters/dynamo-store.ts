import {
  type AttributeValue,
  BatchGetItemCommand,
  type KeysAndAttributes,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import type { Change, Row, RowStore, RowWriteOptions } from '@sluice/fleet/backend'
import { badOption, type Clock, clockOf, KEEP_ALIVE, optionsOf } from '@sluice/limiter-core/backend'
import { isConflict, wasRepeated } from './dynamo-errors.ts'
import { addRow, putOf } from './dynamo-rows.ts'
import { createRowTable, type DynamoClient } from './dynamo-table.ts'

export type { DynamoClient } from './dynamo-table.ts'

export interface DynamoStoreOptions {
  /** Name of the table, 3 to 255 characters. Default: `sluice_rows`. */
  readonly table?: string | undefined
  /** Clock whose `wall` decides when rows expire. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
}

/** Store returned by `dynamoStore`. */
export interface DynamoStore extends RowStore {
  /** Creates the table with its expiry unless it exists, and resolves when the table is ready. */
  migrate(): Promise<void>
}

const TABLE = /^[\w.-]{3,255}$/
/** Most keys of a `BatchGetItem`. */
const READ_KEYS = 100
/** Number of requests for keys that DynamoDB has left unprocessed, and the longest pause before the first one in ms. */
const READ_ATTEMPTS = 8
const READ_PAUSE_MS = 4
/** Time in ms after which a request without an answer is given up, far above the deadline of a decision. */
const SILENT_MS = 1_000

/**
 * Creates a store in a table of DynamoDB. `client` is a `DynamoDBClient` of `@aws-sdk/client-dynamodb`, which the caller
 * destroys. Counts use the clock of each process. Throws `SLUICE_BAD_OPTION`.
 */
export function dynamoStore(client: DynamoClient, options: DynamoStoreOptions = {}): DynamoStore {
  const { table = 'sluice_rows', clock } = optionsOf('dynamoStore', options, ['table', 'clock'])
  if (typeof client?.send !== 'function') throw badOption('dynamoStore: client', client, 'a DynamoDBClient')
  if (!(typeof table === 'string' && TABLE.test(table))) {
    throw badOption('dynamoStore: table', table, '3 to 255 letters, digits, underscores, dots and hyphens')
  }
  return new TableStore(client, table, clockOf(clock))
}

class TableStore implements DynamoStore {
  readonly #client: DynamoClient
  readonly #table: string
  readonly #clock: Clock

  constructor(client: DynamoClient, table: string, clock: Clock) {
    this.#client = client
    this.#table = table
    this.#clock = clock
  }

  migrate(): Promise<void> {
    return createRowTable(this.#client, this.#table, (ms) => this.#pause(ms))
  }

  async read(keys: readonly string[]): Promise<readonly (Row | undefined)[]> {
    const found = new Map<string, Row>()
    const parts: Promise<void>[] = []
    for (let from = 0; from < keys.length; from += READ_KEYS)
      parts.push(this.#readSome(keys.slice(from, from + READ_KEYS), found))
    await Promise.all(parts)
    return keys.map((key) => found.get(key))
  }

  async write(changes: readonly Change[], { ttlMs }: RowWriteOptions): Promise<boolean> {
    if (changes.length === 0) return true
    const [put, ...others] = changes.map((change) => putOf(this.#table, change, this.#clock.wall(), ttlMs))
    try {
      await this.#answered((limits): Promise<unknown> => {
        if (others.length === 0) return this.#client.send(new PutItemCommand(put), limits)
        const TransactItems = [put, ...others].map((Put) => ({ Put }))
        return this.#client.send(new TransactWriteItemsCommand({ TransactItems }), limits)
      })
      return true
    } catch (error) {
      if (!isConflict(error)) throw error
      // the client may have repeated a write whose answer was lost, and the condition fails by its own version
      return others.length === 0 && wasRepeated(error) && (await this.#isStored(put.Item))
    }
  }

  async #readSome(keys: readonly string[], found: Map<string, Row>): Promise<void> {
    let left: Record<string, AttributeValue>[] | undefined = keys.map((id) => ({ id: { S: id } }))
    for (let attempt = 1; ; attempt++) {
      const RequestItems: Record<string, KeysAndAttributes> = { [this.#table]: { Keys: left, ConsistentRead: true } }
      const answer = await this.#answered((limits) =>
        this.#client.send(new BatchGetItemCommand({ RequestItems }), limits),
      )
      for (const item of answer.Responses?.[this.#table] ?? []) addRow(item, this.#clock.wall(), found)
      left = answer.UnprocessedKeys?.[this.#table]?.Keys
      if (!left?.length) return
      if (attempt === READ_ATTEMPTS) throw new Error('DynamoDB left keys unprocessed at each attempt')
      await this.#pause(Math.random() * READ_PAUSE_MS * 2 ** attempt)
    }
  }

  async #isStored({ id, version }: Record<string, AttributeValue>): Promise<boolean> {
    const [row] = await this.read([id.S as string])
    return row?.version === version.N
  }

  /**
   * Sends a request, and rejects if it has no answer after a second. The connection is closed, because nothing else ends it
   * while the network drops all packets, and such connections would use up those of the client.
   */
  async #answered<T>(send: (limits: { readonly abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    const silence = new AbortController()
    const cancel = this.#clock.after(SILENT_MS, () => silence.abort(), KEEP_ALIVE)
    try {
      return await send({ abortSignal: silence.signal })
    } catch (error) {
      throw silence.signal.aborted ? new Error(`no answer within ${SILENT_MS} ms`, { cause: error }) : error
    } finally {
      // a clock of the user may return nothing
      cancel?.()
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve, KEEP_ALIVE))
  }
}
