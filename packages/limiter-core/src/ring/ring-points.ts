/** A point and its owner fit into 53 bits: so many owners and points there may be. */
export const MOST_POINTS: number = 2 ** 21
const RING_END = 2 ** 32 - 1

/**
 * Points on a ring of 2³² places, each of them owned by one of several. A place belongs to the owner of the first point
 * at or after it: of points at 1e9, 2e9 and 3e9, 1.5e9 to that of the second, and what is behind the last one to that
 * of the first.
 */
export class RingPoints {
  /** Ascending, then the end of the ring, where the first one begins again. */
  readonly #points: Uint32Array
  /** The owner of each point. */
  readonly #owners: Uint32Array
  /** Of each part of the ring, its first point: there are about as many parts as points, so a search has two steps. */
  readonly #starts: Uint32Array
  readonly #partBits: number

  /** `marks`: one or more of what `markOf` answers. Sorts them; of equal points the one of the first owner counts. */
  constructor(marks: Float64Array) {
    marks.sort()
    this.#points = Uint32Array.from([...marks, RING_END * MOST_POINTS], (mark) => mark / MOST_POINTS)
    this.#owners = Uint32Array.from([...marks, marks[0]], (mark) => mark % MOST_POINTS)
    this.#partBits = Math.clz32(marks.length)
    this.#starts = startsOf(this.#points, this.#partBits)
  }

  /** A point and its owner, an index below `MOST_POINTS`, as one number. */
  static markOf(point: number, owner: number): number {
    return point * MOST_POINTS + owner
  }

  /** `place`: a uint32. */
  ownerAt(place: number): number {
    const points = this.#points
    let at = this.#starts[place >>> this.#partBits]
    while (points[at] < place) at++
    return this.#owners[at]
  }
}

/** Of each part of 2^`partBits` places, the index of the first point in or after it. */
function startsOf(points: Uint32Array, partBits: number): Uint32Array {
  let at = 0
  return new Uint32Array(2 ** (32 - partBits)).map((_, part) => {
    while (points[at] < part * 2 ** partBits) at++
    return at
  })
}
