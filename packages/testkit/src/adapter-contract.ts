import { answers, failedAnswers } from './adapter/answers.ts'
import { backends } from './adapter/backends.ts'
import { connections } from './adapter/connections.ts'
import { costs } from './adapter/costs/costs.ts'
import { streamBudgets } from './adapter/costs/stream-budgets.ts'
import { errorHandlers } from './adapter/error-handlers.ts'
import { exemptions } from './adapter/exemptions.ts'
import { goldens } from './adapter/goldens.ts'
import { headers } from './adapter/headers.ts'
import { hooks } from './adapter/hooks.ts'
import { keyDenials } from './adapter/key-denials.ts'
import { mergedHeaders } from './adapter/merged-headers.ts'
import { modes } from './adapter/modes.ts'
import { preflights } from './adapter/preflights.ts'
import { priorities } from './adapter/priorities.ts'
import { requestLimits } from './adapter/request-limits.ts'
import { requestWords } from './adapter/request-words.ts'
import { shed } from './adapter/shed.ts'
import { slowDown } from './adapter/slow-down.ts'
import type { Feature, MakeApp } from './adapter/stage/app-description.ts'
import { Stage } from './adapter/stage/stage.ts'
import { trustedProxies } from './adapter/trusted-proxies.ts'
import { vendorHeaders } from './adapter/vendor-headers.ts'
import { waiting } from './adapter/waiting.ts'
import type { TestRunner } from './suite-runner.ts'

export interface AdapterContractOptions {
  /** Features that the framework lacks; their tests are skipped. */
  readonly without?: readonly Feature[] | undefined
}

/**
 * The contract of every adapter: one suite that each framework runs unchanged over a real socket. `makeApp` builds an
 * application of the framework from a framework-independent description.
 */
export function adapterContract(
  runner: TestRunner,
  makeApp: MakeApp,
  { without = [] }: AdapterContractOptions = {},
): void {
  const stage = new Stage(makeApp)
  const staged: TestRunner = {
    describe: (name, define) => runner.describe(name, define),
    test: (name, run) => runner.test(name, () => stage.play(run)),
  }
  for (const theme of [
    goldens,
    preflights,
    mergedHeaders,
    vendorHeaders,
    answers,
    hooks,
    exemptions,
    keyDenials,
    costs,
    streamBudgets,
    requestLimits,
    requestWords,
    backends,
    slowDown,
    priorities,
    waiting,
    shed,
  ]) {
    theme(staged, stage)
  }
  headers(staged, stage, without)
  if (!without.includes('closes-connections')) connections(staged, stage)
  modes(staged, stage, without)
  if (without.includes('error-handlers')) failedAnswers(staged, stage)
  else errorHandlers(staged, stage)
  if (!without.includes('knows-peer')) trustedProxies(staged, stage)
}
