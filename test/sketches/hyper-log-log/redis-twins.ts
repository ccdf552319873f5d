import { expect } from '@jest/globals'
import { RedisHyperLogLog } from '@sluice/sketches'
import type { Redis } from 'ioredis'
import { sent } from './redis-keys.ts'

export type Key = string | Uint8Array

/**
 * A HyperLogLog here and one in Redis that receive the same operations. `done` sends the operations and compares the
 * result of every step.
 */
export class Twins {
  readonly name: string
  readonly local: RedisHyperLogLog
  readonly #client: Redis
  #calls: ReturnType<Redis['pipeline']>
  #expected: unknown[] = []

  constructor(client: Redis, name: string, sparseMaxBytes = 3_000) {
    this.name = name
    this.local = new RedisHyperLogLog({ sparseMaxBytes })
    this.#client = client
    this.#calls = client.pipeline()
    this.#expect(this.#calls.config('SET', 'hll-sparse-max-bytes', sparseMaxBytes), 'OK')
    this.#expect(this.#calls.del(name), expect.anything())
    this.#expect(this.#calls.call('PFADD', name), 1)
    this.#compare()
  }

  add(keys: readonly Key[]): void {
    let news = 0
    for (const key of keys) if (this.local.add(key)) news++
    this.#expect(this.#calls.call('PFADD', this.name, ...keys.map(sent)), Number(news > 0))
    this.#compare()
  }

  count(): void {
    this.#expect(this.#calls.pfcount(this.name), this.local.cacheCount())
    this.#compare()
  }

  /** `done` must have been called on `other`. */
  merge(other: Twins): void {
    this.local.merge(other.local)
    this.#expect(this.#calls.pfmerge(this.name, other.name), 'OK')
    this.#compare()
  }

  async done(): Promise<void> {
    const expected = this.#expected
    const calls = this.#calls
    this.#expected = []
    this.#calls = this.#client.pipeline()
    const answers = (await calls.exec()) ?? []
    expect(answers.length).toBe(expected.length)
    for (const [at, [error, answer]] of answers.entries()) {
      if (error) throw error
      if (Buffer.isBuffer(expected[at])) sameBytes(answer as Buffer, expected[at], at)
      else expect({ at, answer }).toEqual({ at, answer: expected[at] })
    }
  }

  #compare(): void {
    this.#expect(this.#calls.getBuffer(this.name), Buffer.from(this.local.toBytes()))
  }

  #expect(_call: unknown, answer: unknown): void {
    this.#expected.push(answer)
  }
}

/** Shows the first difference in a readable form, even in 12 KB. */
function sameBytes(redis: Buffer, local: Buffer, at: number): void {
  if (redis.equals(local)) return
  const from = redis.findIndex((byte, index) => byte !== local[index])
  const shown = (bytes: Buffer): string => `${bytes.length}: ${bytes.toString('hex', from, from + 20)}`
  expect({ at, from, local: shown(local) }).toEqual({ at, from, local: shown(redis) })
}
