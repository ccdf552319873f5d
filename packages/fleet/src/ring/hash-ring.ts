import { badOption, kindOf, optionsOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { createKeyedHash, type KeyedHash, scatterBits } from '@sluice/limiter-core/keyed-hash'
import { MAX_POINTS, RingPoints } from './ring-points.ts'

export interface HashRingOptions {
  /**
   * 16 bytes or more, equal in all processes. Default: a published constant, with which an attacker can choose keys
   * that belong to one server. Pass a secret to prevent that.
   */
  readonly seed?: Uint8Array | undefined
  /**
   * Number of virtual nodes per server, an integer of at least 1. Default: 1,000. All servers together have at most
   * 2,097,152.
   */
  readonly nodes?: number | undefined
}

/**
 * With n servers, the share of one has a standard deviation of √((n - 1) / nodes) / n: 0.7 percentage points for four
 * servers with 1,000 nodes.
 */
const NODES = 1000
/** 'sluice hash ring' in ASCII. Changing it would move nearly all keys to other servers. */
const PUBLISHED_SEED = [115, 108, 117, 105, 99, 101, 32, 104, 97, 115, 104, 32, 114, 105, 110, 103]
/** 2³² / φ, odd: its multiples reach all int32 values before repeating. */
const STEP = 0x9e3779b9
const imul = Math.imul

/**
 * Consistent hashing (Karger et al. 1997): a key belongs to the server of the first point at or after its hash on a
 * ring of 2³² positions, and each server has `nodes` points. The points depend only on the server's name and the
 * seed, so that all processes agree regardless of the order of names, and adding or removing a server moves no key
 * between the others. If two points are equal, the alphabetically first name wins.
 */
export class HashRing {
  readonly #hash: KeyedHash
  readonly #names: readonly string[]
  /** Takes 12 to 16 bytes per point. */
  readonly #points: RingPoints

  /** `names`: one or more unique, non-empty server names. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_SEED`. */
  constructor(names: readonly string[], options: HashRingOptions = {}) {
    const { seed = Uint8Array.from(PUBLISHED_SEED), nodes = NODES } = optionsOf('HashRing', options, ['seed', 'nodes'])
    this.#names = checkedNames(names)
    checkNodes(nodes, this.#names.length)
    this.#hash = createKeyedHash(seed)
    this.#points = new RingPoints(marksOf(this.#hash, this.#names, nodes))
  }

  /** Returns the server of a key. Throws `SLUICE_BAD_KEY` if it is not a string. */
  serverOf(key: string): string {
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key: expected a string, received ${kindOf(key)}`)
    }
    const hash = this.#hash
    hash.text(key)
    return this.#names[this.#points.ownerAt(hash.low >>> 0)]
  }
}

function marksOf(hash: KeyedHash, names: readonly string[], nodes: number): Float64Array {
  const marks = new Float64Array(names.length * nodes)
  let at = 0
  for (const [owner, name] of names.entries()) {
    hash.text(name)
    const { low, high } = hash
    for (let node = 0; node < nodes; node++) {
      // both halves, so that no two names share a sequence of points
      const point = scatterBits((scatterBits((low + imul(node, STEP)) | 0) + high) | 0) >>> 0
      marks[at++] = RingPoints.markOf(point, owner)
    }
  }
  return marks
}

/** Validates the names and returns them sorted by their UTF-16 code units. */
function checkedNames(names: readonly string[]): readonly string[] {
  if (!Array.isArray(names) || names.length === 0) throw badOption('names', names, 'a non-empty array of server names')
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string' || name === '') throw badOption(`names[${index}]`, name, 'a non-empty string')
  }
  const sorted = [...names].sort()
  // the message does not show the name, which may be a URL with a password
  if (sorted.some((name, index) => index > 0 && name === sorted[index - 1])) {
    throw new SluiceError('SLUICE_BAD_OPTION', 'names: expected unique names, received the same name twice')
  }
  return sorted
}

function checkNodes(nodes: number, servers: number): void {
  const most = Math.floor(MAX_POINTS / servers)
  if (Number.isInteger(nodes) && nodes >= 1 && nodes <= most) return
  const expected = `an integer from 1 to ${most} with ${servers} servers`
  throw new SluiceError('SLUICE_BAD_OPTION', `nodes: expected ${expected}, received ${shown(nodes)}`)
}
