import { describe, test } from '@jest/globals'
import { type BypassContractOptions, bypassContract, type LimitedApp } from '@sluice/testkit'
import type { Login } from './login-apps.ts'
import { cases } from './login-limit.ts'

/** Runs the suite of bypasses for each application, counted in several ways. */
export function runBypasses(
  apps: Readonly<Record<string, (login: Login) => Promise<LimitedApp>>>,
  options: BypassContractOptions = {},
): void {
  for (const [name, start] of Object.entries(apps)) {
    describe.each(cases)(`${name}: %s, counted by %s`, (method, counting) => {
      bypassContract({ describe, test }, () => start({ counting, method, path: '/login' }), { method, ...options })
    })
  }
}
