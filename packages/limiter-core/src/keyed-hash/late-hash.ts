import type { KeyedHash } from './contract.ts'

/** A hash whose seed is drawn at the first use, for runtimes that have no random numbers while modules are loaded. */
export class LateHash implements KeyedHash {
  low = 0
  high = 0
  readonly #create: () => KeyedHash
  #hash: KeyedHash | undefined

  constructor(create: () => KeyedHash) {
    this.#create = create
  }

  text(key: string): void {
    this.#read((hash) => hash.text(key))
  }

  bytes(key: Uint8Array): void {
    this.#read((hash) => hash.bytes(key))
  }

  integer(key: number): void {
    this.#read((hash) => hash.integer(key))
  }

  #read(run: (hash: KeyedHash) => void): void {
    this.#hash ??= this.#create()
    run(this.#hash)
    this.low = this.#hash.low
    this.high = this.#hash.high
  }
}
