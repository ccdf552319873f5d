import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import type { LoopLimits } from './run-options.ts'

/** Finds calls of a tool that are made again and again with the same arguments. */
export class LoopDetector {
  readonly repeats: number
  readonly #within: number
  readonly #hash = createKeyedHash()
  /** Hashes of the last calls, the oldest first. */
  #last: string[] = []

  constructor({ repeats, within }: LoopLimits) {
    this.repeats = repeats
    this.#within = within
  }

  /** Records a call, unless it is a loop. Arguments that cannot be compared are no loop. */
  isLoop(tool: string, args: unknown): boolean {
    const text = canonicalJson([tool, args])
    if (text === undefined) return false
    this.#hash.text(text)
    const call = `${this.#hash.low} ${this.#hash.high}`
    if (this.#last.filter((one) => one === call).length >= this.repeats) return true
    this.#last.push(call)
    if (this.#last.length > this.#within) this.#last.shift()
    return false
  }

  /** Forgets all calls. */
  reset(): void {
    this.#last = []
  }
}

/** Returns JSON with the keys of objects in order; undefined for values that JSON would confuse with others. */
function canonicalJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, one: unknown) => comparable(one))
  } catch {
    // a cycle, a depth that overflows the stack, a getter that throws, or a value that is not comparable
    return undefined
  }
}

function comparable(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (value instanceof Map || value instanceof Set) return [...value]
  if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('the state of an object is not known')
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
