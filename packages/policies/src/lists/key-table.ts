import { BlockedBloomFilter, SketchSeed } from '@sluice/sketches'
import { RecordBuffer } from './record-buffer.ts'
import { type Steps, touched } from './steps.ts'

const PAGE_BYTES = 2 ** 20
/** Places of keys are 32-bit numbers. */
const MAX_PAGES = 2 ** 12 - 1
/** Bytes before a key: its length. */
const LENGTH_BYTES = 2
/** Most bytes of a character of a string in UTF-8. */
const MAX_CHARACTER_BYTES = 3
/** Keys that a step places, in a few milliseconds. */
const STEP_KEYS = 2 ** 12
const SLOTS_PER_KEY = 1.5
/** Most keys of a filter of 512 MiB, the largest one. */
const MAX_FILTERED = 400_000_000

/** Collects keys for a `KeyTable`. */
export class KeyTableBuilder {
  readonly #seed = new SketchSeed()
  readonly #pages: Buffer[] = []
  #used = PAGE_BYTES
  #longest = 0
  /** The halves of the hash of each key, and the place of its bytes. */
  readonly #records = new RecordBuffer(3)

  /** Adds a key of at most 1,024 characters without lone surrogates. Returns false if there is no room: 4 GiB of keys. */
  add(key: string): boolean {
    if (this.#used + LENGTH_BYTES + key.length * MAX_CHARACTER_BYTES > PAGE_BYTES) {
      if (this.#pages.length === MAX_PAGES) return false
      this.#pages.push(Buffer.allocUnsafeSlow(PAGE_BYTES))
      this.#used = 0
    }
    const page = this.#pages[this.#pages.length - 1]
    const place = (this.#pages.length - 1) * PAGE_BYTES + this.#used
    const bytes = page.write(key, this.#used + LENGTH_BYTES, 'utf8')
    page.writeUInt16LE(bytes, this.#used)
    this.#used += LENGTH_BYTES + bytes
    this.#longest = Math.max(this.#longest, key.length)
    const { low, high } = this.#seed.hashOf(key)
    const { words, at } = this.#records.add()
    words[at] = low
    words[at + 1] = high
    words[at + 2] = place
    return true
  }

  /** Builds the table and empties the builder. */
  *build(): Steps<KeyTable> {
    const keys = this.#records.size
    const slots = Math.ceil(keys * SLOTS_PER_KEY)
    const table = new KeyTable({
      seed: this.#seed,
      pages: this.#pages,
      longest: this.#longest,
      keys,
      tags: yield* touched(new Uint8Array(slots)),
      places: yield* touched(new Uint32Array(slots)),
    })
    for (const words of this.#records.take()) {
      for (let at = 0; at < words.length; at += 3) {
        if (at % (STEP_KEYS * 3) === 0) yield
        table.place(words[at], words[at + 1], words[at + 2])
      }
    }
    return table
  }
}

interface KeyTableParts {
  readonly seed: SketchSeed
  readonly pages: readonly Buffer[]
  /** Characters of the longest key. */
  readonly longest: number
  /** Number of keys that will be placed. */
  readonly keys: number
  /** For each slot, 0 if it is empty, or else 1 to 255 from the hash of its key. */
  readonly tags: Uint8Array
  /** For each slot, the place of its key. */
  readonly places: Uint32Array
}

/**
 * A set of keys that needs the bytes of their text and 11 more for each key, where a `Set` needs about 110.
 *
 * The first stage is a Bloom filter, which excludes 99 % of all other keys with one access to memory. The second stage is
 * exact: a table with the places of the texts, and with a byte of each hash, so that texts of other keys are rarely
 * compared.
 */
export class KeyTable {
  readonly #seed: SketchSeed
  readonly #filter: BlockedBloomFilter
  readonly #pages: readonly Buffer[]
  readonly #longest: number
  readonly #tags: Uint8Array
  readonly #places: Uint32Array

  constructor({ seed, pages, longest, keys, tags, places }: KeyTableParts) {
    this.#seed = seed
    this.#filter = new BlockedBloomFilter({ capacity: Math.min(Math.max(1, keys), MAX_FILTERED), seed })
    this.#pages = pages
    this.#longest = longest
    this.#tags = tags
    this.#places = places
  }

  /** Bytes of memory. */
  get bytes(): number {
    const ofTable = this.#tags.byteLength + this.#places.byteLength
    return ofTable + this.#filter.bytes + this.#pages.length * PAGE_BYTES
  }

  /** Places a key with this hash whose bytes are already in the pages. */
  place(low: number, high: number, place: number): void {
    const tags = this.#tags
    let slot = this.#firstSlot(low)
    while (tags[slot] !== 0) slot = slot + 1 === tags.length ? 0 : slot + 1
    tags[slot] = tagOf(high)
    this.#places[slot] = place
    this.#filter.add(this.#textAt(place))
  }

  has(key: string): boolean {
    const tags = this.#tags
    if (key.length > this.#longest || tags.length === 0 || !this.#filter.has(key)) return false
    const { low, high } = this.#seed.hashOf(key)
    const sought = tagOf(high)
    let slot = this.#firstSlot(low)
    for (let tag = tags[slot]; tag !== 0; tag = tags[slot]) {
      if (tag === sought && this.#textAt(this.#places[slot]) === key) return true
      slot = slot + 1 === tags.length ? 0 : slot + 1
    }
    return false
  }

  #firstSlot(low: number): number {
    return Math.floor(((low >>> 0) / 2 ** 32) * this.#tags.length)
  }

  #textAt(place: number): string {
    const page = this.#pages[Math.floor(place / PAGE_BYTES)]
    const at = place % PAGE_BYTES
    const start = at + LENGTH_BYTES
    return page.toString('utf8', start, start + page.readUInt16LE(at))
  }
}

function tagOf(high: number): number {
  return high >>> 24 || 1
}
