import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentsSdkScenarios } from '../sdks/agents-sdk-scenarios.ts'
import { aiSdkScenarios } from '../sdks/ai-sdk-scenarios.ts'

const scenarios = [...aiSdkScenarios, ...agentsSdkScenarios]

/** Runs a scenario. Returns its failure, or an empty string. */
export async function failureOf(name: string): Promise<string> {
  try {
    await scenarios.find((one) => one.name === name)?.run()
    return ''
  } catch (error) {
    return error instanceof Error ? String(error.stack) : String(error)
  }
}

/** Returns the version of an SDK that the scenarios use. */
export function versionOf(sdk: string): string {
  for (let folder = dirname(require.resolve(sdk)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (name === sdk) return version
    } catch (error) {
      if (folder === dirname(folder)) throw error
    }
  }
}
