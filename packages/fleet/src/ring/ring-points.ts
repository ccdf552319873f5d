/** Maximum number of owners, and of points: a point (32 bits) and its owner (21 bits) fit into a 53-bit integer. */
export const MAX_POINTS: number = 2 ** 21
const RING_END = 2 ** 32 - 1

/**
 * Points on a ring of 2³² positions, each with an owner. A position belongs to the owner of the first point at or
 * after it: with points at 1e9, 2e9 and 3e9, position 1.5e9 belongs to the second owner, and positions after the last
 * point to the first.
 */
export class RingPoints {
  /** Sorted points, followed by the end of the ring, which belongs to the owner of the first point. */
  readonly #points: Uint32Array
  /** The owner of each point. */
  readonly #owners: Uint32Array
  /** First point of each part of the ring. There are about as many parts as points, so a search takes two steps. */
  readonly #starts: Uint32Array
  readonly #partBits: number

  /** `marks`: one or more results of `markOf`, which are sorted in place. If points are equal, the first owner wins. */
  constructor(marks: Float64Array) {
    marks.sort()
    this.#points = Uint32Array.from([...marks, RING_END * MAX_POINTS], (mark) => mark / MAX_POINTS)
    this.#owners = Uint32Array.from([...marks, marks[0]], (mark) => mark % MAX_POINTS)
    this.#partBits = Math.clz32(marks.length)
    this.#starts = startsOf(this.#points, this.#partBits)
  }

  /** Returns a point (uint32) and its owner (an index below `MAX_POINTS`) as one number. */
  static markOf(point: number, owner: number): number {
    return point * MAX_POINTS + owner
  }

  /** Returns the owner of a position, a uint32. */
  ownerAt(position: number): number {
    const points = this.#points
    let at = this.#starts[position >>> this.#partBits]
    while (points[at] < position) at++
    return this.#owners[at]
  }
}

/** Returns, for each part of 2^`partBits` positions, the index of the first point in or after it. */
function startsOf(points: Uint32Array, partBits: number): Uint32Array {
  let at = 0
  return new Uint32Array(2 ** (32 - partBits)).map((_, part) => {
    while (points[at] < part * 2 ** partBits) at++
    return at
  })
}
