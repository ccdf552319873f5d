// number of synchronous decisions between turns of the event loop: a server reads its sockets about as often
const answersPerTurn = 64
const keptLatencies = 2 ** 20

/**
 * `concurrency` callers, each of which sends again as soon as it is answered, for `ms` or until `amount` decisions are
 * made. Promises are awaited.
 */
export async function closedLoop(opened, next, { concurrency, ms = Infinity, amount = Infinity }) {
  const loop = new Loop(ms, amount)
  const cpuBefore = process.cpuUsage()
  await Promise.all(Array.from({ length: concurrency }, () => callUntilEnd(loop, opened, next)))
  const { user, system } = process.cpuUsage(cpuBefore)
  return loop.result(user + system)
}

async function callUntilEnd(loop, { take, allowed }, next) {
  let from = performance.now()
  while (loop.goesOn(from)) {
    const given = take(next())
    const awaited = typeof given.then === 'function'
    const answer = awaited ? await given : given
    const to = performance.now()
    loop.made(to - from, allowed(answer), awaited)
    from = to
    if (!awaited && loop.mustTurn()) {
      await loop.turned()
      from = performance.now()
    }
  }
}

class Loop {
  #startedAt = performance.now()
  #endsAt
  #amount
  #begun = 0
  #decisions = 0
  #passed = 0
  #atOnce = 0
  #leftOfTurn = answersPerTurn
  #turn
  #latencies = new Float64Array(keptLatencies)

  constructor(ms, amount) {
    this.#endsAt = this.#startedAt + ms
    this.#amount = amount
  }

  goesOn(now) {
    return now < this.#endsAt && this.#begun++ < this.#amount
  }

  made(tookMs, allowed, awaited) {
    this.#latencies[this.#decisions++ & (keptLatencies - 1)] = tookMs
    if (allowed) this.#passed++
    if (!awaited) this.#atOnce++
  }

  mustTurn() {
    return --this.#leftOfTurn <= 0
  }

  /** One turn of the event loop, shared by all waiting callers. */
  turned() {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#turn = undefined
        this.#leftOfTurn = answersPerTurn
        resolve()
      })
    })
    return this.#turn
  }

  result(cpuUs) {
    const sorted = this.#latencies.subarray(0, Math.min(this.#decisions, keptLatencies)).sort()
    const quantileUs = (share) => sorted[Math.floor((sorted.length - 1) * share)] * 1_000
    return {
      decisions: this.#decisions,
      passed: this.#passed,
      atOnce: this.#atOnce,
      tookMs: performance.now() - this.#startedAt,
      cpuUs,
      p50Us: quantileUs(0.5),
      p99Us: quantileUs(0.99),
    }
  }
}
