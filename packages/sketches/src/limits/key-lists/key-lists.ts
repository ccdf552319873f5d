import { kindOf, type MaybePromise, SluiceError } from '@sluice/limiter-core/backend'
import { BlockedBloomFilter } from '../../bloom/blocked-bloom-filter.ts'
import type { SketchSeed } from '../../sketch-seed.ts'
import type { KeyList, KeyListStats } from './key-list.ts'
import { KeyListMemory } from './key-list-memory.ts'
import { type KeyListOptions, keyListPlan, type ListErrorRule, type ListKey } from './key-list-options.ts'
import { KeyListStage } from './key-list-stage.ts'

/**
 * Creates a list of keys that must not pass. If `exact` fails, keys that the filter contains stay blocked, and with
 * them `errorRate` of all others; `onError: 'absent'` admits all of them. Throws `SLUICE_BAD_OPTION`,
 * `SLUICE_BAD_DURATION` and `SLUICE_BAD_SEED`.
 */
export function blockList(options: KeyListOptions): KeyList {
  return new FilteredList('block list', options, 'present')
}

/**
 * Creates a list of keys that may pass. If `exact` fails, no key is on it; `onError: 'present'` trusts the filter,
 * which admits `errorRate` of all others. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_DURATION` and `SLUICE_BAD_SEED`.
 */
export function allowList(options: KeyListOptions): KeyList {
  return new FilteredList('allow list', options, 'absent')
}

class FilteredList implements KeyList {
  readonly name: string
  readonly #seed: SketchSeed
  readonly #stage: KeyListStage
  readonly #memory: KeyListMemory
  #filter: BlockedBloomFilter
  /** Incremented with each change of the list, so that a negative result of an earlier call is not cached. */
  #version = 0
  /** `#version` when keys may last have been removed from the list: results of earlier calls are not cached. */
  #forgottenAt = 0
  #asked = 0
  #passed = 0
  #falsePositives = 0
  #remembered = 0
  #ruled = 0

  constructor(owner: string, options: KeyListOptions, safe: ListErrorRule) {
    const plan = keyListPlan(owner, options, safe)
    const { capacity, errorRate, seed } = options
    this.name = plan.name
    this.#filter = new BlockedBloomFilter({ capacity, errorRate, seed })
    this.#seed = this.#filter.seed
    this.#memory = new KeyListMemory(plan)
    this.#stage = new KeyListStage(plan, {
      version: () => this.#version,
      answered: (key, answer, asOf) => this.#answered(key, answer, asOf),
      ruled: () => {
        this.#ruled++
      },
    })
  }

  get stats(): KeyListStats {
    return {
      asked: this.#asked,
      passedByFilter: this.#passed,
      positives: this.#asked - this.#passed,
      falsePositives: this.#falsePositives,
      remembered: this.#remembered,
      ruled: this.#ruled,
    }
  }

  get size(): number {
    return this.#filter.size
  }

  get falsePositiveRate(): number {
    return this.#filter.falsePositiveRate
  }

  get bytes(): number {
    return this.#filter.bytes
  }

  add(key: ListKey): void {
    const text = textOf(key)
    if (text === undefined) throw badKey('add', key, 'a text or a number')
    this.#filter.add(text)
    this.#memory.forget(text)
    this.#version++
  }

  addAll(keys: Iterable<ListKey>): number
  addAll(keys: AsyncIterable<ListKey>): Promise<number>
  addAll(keys: Iterable<ListKey> | AsyncIterable<ListKey>): MaybePromise<number> {
    // a string is iterable too, but its characters are not meant as keys
    if (typeof keys !== 'object' || keys === null) throw badKey('addAll', keys, 'an array, a set or rows of keys')
    if (isAsync(keys)) return this.#addEach(keys)
    let added = 0
    for (const key of keys) {
      this.add(key)
      added++
    }
    return added
  }

  has(key: ListKey): MaybePromise<boolean> {
    this.#asked++
    const text = textOf(key)
    if (text === undefined || !this.#filter.has(text)) {
      this.#passed++
      return false
    }
    const remembered = this.#memory.recall(text)
    if (remembered === undefined) return this.#stage.ask(text)
    this.#remembered++
    if (!remembered) this.#falsePositives++
    return remembered
  }

  toBytes(): Uint8Array {
    return this.#filter.toBytes()
  }

  load(bytes: Uint8Array): void {
    this.#filter = BlockedBloomFilter.fromBytes(bytes, { seed: this.#seed })
    this.forgetAnswers()
  }

  merge(bytes: Uint8Array): void {
    this.#filter.merge(BlockedBloomFilter.fromBytes(bytes, { seed: this.#seed }))
    this.forgetAnswers()
  }

  forgetAnswers(): void {
    this.#memory.clear()
    this.#forgottenAt = ++this.#version
  }

  close(): void {
    this.#stage.close()
  }

  async #addEach(keys: AsyncIterable<ListKey>): Promise<number> {
    let added = 0
    for await (const key of keys) {
      this.add(key)
      added++
    }
    return added
  }

  #answered(key: string, answer: boolean, asOf: number): void {
    if (!answer) this.#falsePositives++
    const isCurrent = asOf >= (answer ? this.#forgottenAt : this.#version)
    if (isCurrent) this.#memory.remember(key, answer)
  }
}

/** Returns undefined for an invalid key, which cannot be on the list. */
function textOf(key: ListKey): string | undefined {
  if (typeof key === 'string') return key
  return typeof key === 'number' || typeof key === 'bigint' ? String(key) : undefined
}

function isAsync<T>(keys: Iterable<T> | AsyncIterable<T>): keys is AsyncIterable<T> {
  return (keys as Partial<AsyncIterable<T>>)[Symbol.asyncIterator] !== undefined
}

function badKey(method: string, key: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_KEY', `${method}: expected ${expected}, received ${kindOf(key)}`)
}
