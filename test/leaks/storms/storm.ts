import { expect } from '@jest/globals'
import { baseSeed } from '@sluice/testkit'
import { runProgram } from '../program.ts'

interface StormReport {
  readonly figures: { readonly left: number; readonly grownMiB: number; readonly [name: string]: number }
}

/** Frameworks and versions of HTTP. */
export const STORMS: readonly (readonly [framework: string, version: 1 | 2])[] = [
  ['node:http', 1],
  ['node:http', 2],
  ['Express 5', 1],
  ['Koa 3', 1],
  ['Fastify 5', 1],
]

/** Bound on the growth of memory, as bytes for each request that was left alone. */
const MOST_BYTES = 419

/** Plays a storm in a process of its own and expects that it leaves nothing behind. */
export async function expectNothingLeft(
  framework: string,
  version: number,
  aborts: number,
  seed: number = baseSeed(),
): Promise<void> {
  const report = (await runProgram('abort-storm', framework, `${version}`, `${aborts}`, `${seed}`)) as StormReport
  process.stdout.write(`${framework} over HTTP/${version}, seed ${seed}: ${JSON.stringify(report.figures)}\n`)
  expect(report).toEqual({ lost: 0, failures: 0, admitsItsLimit: true, figures: expect.anything() })
  expect(report.figures.left).toBeGreaterThanOrEqual(aborts)
  expect((report.figures.grownMiB * 2 ** 20) / aborts).toBeLessThan(MOST_BYTES)
}
