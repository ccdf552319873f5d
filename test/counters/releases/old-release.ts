import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { pinned, pinnedScript } from './formats.ts'

/** A batch that Redis has closed, as returned by its script. */
export interface OldBatch {
  readonly epoch: string
  readonly number: string
  readonly ageMs: number
  readonly ids: readonly string[]
  readonly amounts: readonly number[]
}

interface OldEntry {
  readonly id: string
  readonly value: string
  readonly version: string
  readonly updatedAt: string
}

const EXPIRE_MS = 60_000
const CALL_MS = 120_000
const MAX_OWED = 10_000
/** Created again for a batch that blocks others, or for unknown totals. */
const MAX_TRIES = 50

/**
 * A process of the pinned release: it sends the texts of that release to PostgreSQL and to one partition in Redis.
 * Shares no code with the package, so that it does not change with it.
 */
export class OldRelease {
  readonly #redis: Redis
  readonly #pool: Pool
  readonly #name: string
  readonly #head: string
  readonly #writer: string = randomBytes(15).toString('base64url')
  #number = 0
  #epoch = ''

  constructor(redis: Redis, pool: Pool, name: string) {
    this.#redis = redis
    this.#pool = pool
    this.#name = name
    this.#head = `sluice:{counters:${name}:0}:`
  }

  /** Counts in Redis and returns the value. */
  async increment(id: string, amount: number): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const keys = [`${this.#head}call:${randomBytes(12).toString('base64url')}`, this.#entryKey(id)]
      const args = [CALL_MS, EXPIRE_MS, MAX_OWED, Number.MAX_SAFE_INTEGER, 1, id, 1, 1, amount]
      const [epoch, outcome, value] = await this.#script('lua/count.lua', keys, args)
      if (epoch === 'unfinished') await this.handOver()
      else if (outcome === 'counted') return Number(value)
      else {
        this.#epoch = String(epoch)
        await this.#seed(id)
      }
    }
    throw new Error('the old release did not get to count')
  }

  /** Flushes pending units, unless another process does. */
  async handOver(): Promise<void> {
    const batch = await this.close()
    if (batch === undefined) return
    await this.finish(batch, await this.apply(batch))
  }

  async close(): Promise<OldBatch | undefined> {
    const [kind, epoch, number, ageMs, , flat] = await this.#script('lua/close.lua', [], [2_000, 1])
    if (kind !== 'batch') return undefined
    const pairs = flat as readonly string[]
    return {
      epoch: String(epoch),
      number: String(number),
      ageMs: Number(ageMs),
      ids: pairs.filter((_, index) => index % 2 === 0),
      amounts: pairs.filter((_, index) => index % 2 === 1).map(Number),
    }
  }

  async apply({ epoch, number, ageMs, ids, amounts }: OldBatch): Promise<readonly OldEntry[]> {
    const ages = ids.map(() => ageMs)
    await this.#sql('apply.sql', [this.#name, epoch, number, ids, amounts, ages, ids.map(() => ''), [], []])
    return (await this.#read(ids)).entries
  }

  async finish({ epoch, number }: OldBatch, entries: readonly OldEntry[]): Promise<void> {
    const args = [EXPIRE_MS, epoch, number, ...entries.flatMap(argsOf)]
    await this.#script(
      'lua/finish.lua',
      entries.map(({ id }) => this.#entryKey(id)),
      args,
    )
  }

  /** Counts in PostgreSQL, once for each token. Returns whether it counted now. */
  async countOnce(
    id: string,
    amount: number,
    hashes: { readonly token: string; readonly body: string },
  ): Promise<boolean> {
    const values = [[id], [amount], [0], [hashes.token], [hashes.token], [hashes.body]]
    const rows = await this.#sql('apply.sql', [this.#name, this.#writer, ++this.#number, ...values])
    return rows.some(({ kind }) => kind === 'used')
  }

  async #seed(id: string): Promise<void> {
    const { entries, number } = await this.#read([id])
    const [entry = { id, value: '0', version: '0', updatedAt: '' }] = entries
    const [answer] = await this.#script(
      'lua/seed.lua',
      [this.#entryKey(id)],
      [EXPIRE_MS, this.#epoch, number, ...argsOf(entry)],
    )
    if (answer === 'unfinished') await this.handOver()
  }

  async #read(ids: readonly string[]): Promise<{ readonly entries: readonly OldEntry[]; readonly number: number }> {
    const rows = await this.#sql('read.sql', [this.#name, ids, this.#epoch])
    const writer = rows.find(({ kind }) => kind === 'writer')
    return {
      entries: rows.filter(({ kind }) => kind === 'entry') as unknown as readonly OldEntry[],
      number: Number(writer?.value ?? 0),
    }
  }

  #entryKey(id: string): string {
    return `${this.#head}entry:${id}`
  }

  async #script(
    file: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const all = [...['state', 'pending', 'owed', 'closed'].map((one) => this.#head + one), ...keys]
    const epoch = randomBytes(15).toString('base64url')
    const reply = await this.#redis.eval(pinnedScript(file), all.length, ...all, epoch, ...args)
    return Array.isArray(reply) ? reply : [reply]
  }

  async #sql(file: string, values: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.#pool.query(pinned(file), [...values])).rows
  }
}

function argsOf({ value, version, updatedAt }: OldEntry): (string | number)[] {
  return [value, version, updatedAt === '' ? '' : Math.round(Number(updatedAt))]
}
