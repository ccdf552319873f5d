const FREE = 0
const HELD = 1
const AWAITED = 2

/** Exact counts of integers in shared memory with one lock, like a map with a mutex in other languages. */
export class LockedTable {
  #lock
  #keys
  #counts
  #mask

  constructor(buffer) {
    const slots = (buffer.byteLength - 8) / 8
    this.buffer = buffer
    this.#lock = new Int32Array(buffer, 0, 1)
    this.#keys = new Int32Array(buffer, 8, slots)
    this.#counts = new Int32Array(buffer, 8 + 4 * slots, slots)
    this.#mask = slots - 1
  }

  /** `slots`: a power of two, at least twice the number of keys. */
  static create(slots) {
    return new LockedTable(new SharedArrayBuffer(8 + 8 * slots))
  }

  add(key) {
    this.#acquire()
    this.#counts[this.#slotOf(key)]++
    this.#release()
  }

  get(key) {
    return this.#counts[this.#slotOf(key)]
  }

  #slotOf(key) {
    const keys = this.#keys
    let slot = (Math.imul(key, 0x9e3779b1) >>> 7) & this.#mask
    // 0 is an empty slot
    while (keys[slot] !== key + 1 && keys[slot] !== 0) slot = (slot + 1) & this.#mask
    keys[slot] = key + 1
    return slot
  }

  // the mutex of U. Drepper, Futexes Are Tricky: unlocking wakes a thread only if one is waiting
  #acquire() {
    const lock = this.#lock
    let seen = Atomics.compareExchange(lock, 0, FREE, HELD)
    while (seen !== FREE) {
      if (seen === AWAITED || Atomics.compareExchange(lock, 0, HELD, AWAITED) !== FREE) Atomics.wait(lock, 0, AWAITED)
      seen = Atomics.compareExchange(lock, 0, FREE, AWAITED)
    }
  }

  #release() {
    if (Atomics.sub(this.#lock, 0, 1) === HELD) return
    Atomics.store(this.#lock, 0, FREE)
    Atomics.notify(this.#lock, 0, 1)
  }
}
