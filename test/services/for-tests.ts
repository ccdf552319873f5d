import { afterAll, afterEach, beforeAll } from '@jest/globals'

const running: { stop(): unknown }[] = []

/** A service of a test file or a describe block. `current` exists once its first hook or test runs. */
interface ServiceForTests<Service> {
  readonly current: Service
}

/**
 * Starts a service before the tests of a file or a describe block, and stops it after them. Services that were started
 * later, and may use it, are stopped first.
 */
export function forTests<Service>(
  start: () => Service | Promise<Service>,
  stop: (service: Service) => unknown,
): ServiceForTests<Service> {
  let current: Service
  const own = { stop: () => stop(current) }
  beforeAll(async () => {
    current = await start()
    running.push(own)
  })
  // hooks after the tests run in the order of their definition
  afterAll(async () => {
    while (running.includes(own)) await running.pop()?.stop()
  })
  return {
    get current() {
      return current
    },
  }
}

/** Returns a list. After each test, `end` is called for each of its entries, which are then removed. */
export function endedAfterEach<Entry>(end: (entry: Entry) => unknown): Entry[] {
  const entries: Entry[] = []
  afterEach(() => Promise.all(entries.splice(0).map(end)))
  return entries
}

/** Returns a list of functions. After each test, the last one is called and awaited first, and all are removed. */
export function calledAfterEach(): (() => unknown)[] {
  const calls: (() => unknown)[] = []
  afterEach(async () => {
    for (const call of calls.splice(0).reverse()) await call()
  })
  return calls
}
