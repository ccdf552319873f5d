// Clients that leave at every stage of a request, in front of a cap with every option. Prints what they left behind.
// Arguments: framework, version of HTTP, number of requests without a response, seed.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { seededRandom, until } from '@sluice/testkit'
import { http1Storm } from '../storms/http1-storm.ts'
import { http2Storm } from '../storms/http2-storm.ts'
import { StormServer } from '../storms/storm-server.ts'

const AT_ONCE = 24
const WARM_UP = 0.15
const MIB = 2 ** 20
const STILL_MIB = 0.05
const STILL_MS = 300
const PATIENCE = { timeoutMs: 60_000 }

function collectedMiB(): number {
  global.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / MIB
}

/** Returns the used memory once it falls no further: sessions of HTTP/2 are freed a while after their connection. */
async function usedMiB(): Promise<number> {
  let least = collectedMiB()
  let fellAt = performance.now()
  await until(() => {
    const used = collectedMiB()
    if (least - used >= STILL_MIB) fellAt = performance.now()
    least = Math.min(least, used)
    return performance.now() - fellAt >= STILL_MS
  }, PATIENCE)
  return least
}

async function main(framework: string, version: string, aborts: number, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const isHttp2 = version === '2'
  const storm = isHttp2 ? http2Storm : http1Storm
  const target = new StormServer(framework, isHttp2, random)
  const { server, tally, clock } = target
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  let left = 0
  const play = async (until: number): Promise<void> => {
    const client = async (): Promise<void> => {
      while (left < until) {
        // not in the sum, which would read `left` before it waits
        const more = await storm(port, random)
        left += more
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, client))
  }
  const isQuiet = (): boolean => target.connections === 0 && target.held === 0 && clock.timers === 0
  const describe = (): string => `quiet: ${target.connections} connections, ${target.held} held, ${clock.timers} timers`
  const quiet = (): Promise<void> =>
    until(isQuiet, PATIENCE).catch((error) => Promise.reject(new Error(describe(), { cause: error })))

  const began = performance.now()
  await play(aborts * WARM_UP)
  await quiet()
  const before = await usedMiB()
  await play(aborts)
  await quiet()
  const grownMiB = (await usedMiB()) - before
  const { acquired, released, refused, failures } = tally
  let admitsItsLimit = false
  for (let attempt = 0; attempt < 50 && !admitsItsLimit; attempt++) {
    await new Promise<void>((resolve) => clock.after(100, resolve))
    admitsItsLimit = await target.admitsItsLimit()
  }
  target.close()
  await once(server, 'close')
  const seconds = (performance.now() - began) / 1_000
  const figures = { left, entered: target.entered, acquired, refused, seconds, grownMiB }
  // nothing may keep the process alive now
  process.stdout.write(JSON.stringify({ lost: acquired - released, failures, admitsItsLimit, figures }))
}

const [framework, version, aborts, seed] = process.argv.slice(-4)
main(framework, version, Number(aborts), Number(seed)).catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})
