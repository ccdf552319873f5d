import { describe, test } from '@jest/globals'
import { type BypassContractOptions, bypassContract, type LimitedApp } from '@sluice/testkit'
import type { Login } from './login-apps.ts'
import { cases } from './login-limit.ts'
import { inTurns } from './suite-in-turns.ts'

/** Runs the suite of bypasses for each application, counted in several ways. */
export function runBypasses(
  apps: Readonly<Record<string, (login: Login) => Promise<LimitedApp>>>,
  options: BypassContractOptions = {},
): void {
  for (const [index, [name, start]] of Object.entries(apps).entries()) {
    for (const [turn, [method, counting]] of cases.entries()) {
      describe(`${name}: ${method}, counted by ${counting}`, () => {
        const login = { counting, method, path: '/login' } as const
        const runner = inTurns({ describe, test }, index + turn, cases.length)
        bypassContract(runner, () => start(login), { method, ...options })
      })
    }
  }
}
