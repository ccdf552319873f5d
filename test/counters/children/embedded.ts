import { createCounters } from '@sluice/counters'
import { embeddedLedger, type SqlLedger } from '@sluice/counters/postgres'
import { counterContract, type TestRunner } from '@sluice/testkit'
import { runClaim, sketchClaims } from '../sketches/sketch-claims.ts'

// PGlite is an ES module that jest cannot load, so the code that uses it runs in a separate process

let ledger: SqlLedger | undefined
let made = 0

/** Returns the error code if the call was rejected. */
export async function open(folder: string): Promise<string | undefined> {
  try {
    ledger = await embeddedLedger({ folder })
    return undefined
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
}

export async function close(): Promise<void> {
  await ledger?.close()
  ledger = undefined
}

export async function increment(id: string, delta: number): Promise<number> {
  const counters = createCounters({ name: 'shared', ...(ledger && { ledger }) })
  const { value } = await counters.increment(id, delta, { durable: true })
  await counters.close()
  return value
}

/** Runs the contract, and returns the error of each claim that fails. */
export async function contract(): Promise<readonly (readonly [claim: string, failure: string | undefined])[]> {
  const claims: (readonly [string, () => void | Promise<void>])[] = []
  const runner: TestRunner = {
    describe: (_name, define) => define(),
    test: (name, run) => claims.push([name, run]),
  }
  counterContract(runner, (clock) => {
    const name = `contract-${++made}`
    return { open: () => createCounters({ name, clock, ...(ledger && { ledger }) }), close: () => {} }
  })
  return resultsOf(claims)
}

/** Runs the sketch claims, and returns the error of each claim that fails. */
export async function sketches(): Promise<readonly (readonly [claim: string, failure: string | undefined])[]> {
  const claims = Object.keys(sketchClaims).map((claim) => {
    const run = async (): Promise<void> => {
      if (ledger) await runClaim(claim, () => ledger as SqlLedger, { name: `sketches-${++made}` })
    }
    return [claim, run] as const
  })
  return resultsOf(claims)
}

async function resultsOf(
  claims: readonly (readonly [string, () => void | Promise<void>])[],
): Promise<readonly (readonly [string, string | undefined])[]> {
  const results: (readonly [string, string | undefined])[] = []
  for (const [name, run] of claims) {
    try {
      await run()
      results.push([name, undefined])
    } catch (error) {
      results.push([name, String((error as Error).stack)])
    }
  }
  return results
}
