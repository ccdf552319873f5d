import { adjustedRates } from './adapter/layers/adjusted-rates.ts'
import { capOverrides } from './adapter/layers/cap-overrides.ts'
import { layerAnswers } from './adapter/layers/layer-answers.ts'
import { layerBackends } from './adapter/layers/layer-backends.ts'
import { layerExemptions } from './adapter/layers/layer-exemptions.ts'
import type { MakeLayeredApp } from './adapter/layers/layered-description.ts'
import { rateOverrides } from './adapter/layers/rate-overrides.ts'
import { BuildingStage } from './adapter/stage/stage.ts'
import type { TestRunner } from './suite-runner.ts'

/**
 * The contract of adapters that know routes before requests arrive: a route overrides its part, and a part overrides
 * the application; the same name replaces, another adds, `false` removes, and nothing counts twice.
 */
export function overridesContract(runner: TestRunner, makeApp: MakeLayeredApp): void {
  const stage = new BuildingStage(makeApp)
  const staged: TestRunner = {
    describe: (name, define) => runner.describe(name, define),
    test: (name, run) => runner.test(name, () => stage.play(run)),
  }
  for (const theme of [rateOverrides, adjustedRates, capOverrides, layerExemptions, layerAnswers, layerBackends])
    theme(staged, stage)
}
