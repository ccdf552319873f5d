import type { TestRunner } from '@sluice/testkit'

/** Runs claims without a test framework. Returns the name of the first claim that fails, or undefined if all hold. */
export async function firstFailedClaim(contract: (runner: TestRunner) => void): Promise<string | undefined> {
  const claims: [string, () => void | Promise<void>][] = []
  contract({ describe: (_, define) => define(), test: (name, run) => claims.push([name, run]) })
  if (claims.length === 0) throw new Error('the contract makes no claims')
  for (const [name, run] of claims) {
    try {
      await run()
    } catch {
      return name
    }
  }
  return undefined
}
