import { algorithms } from '../algorithms/index.ts'
import { badOption } from '../errors/bad-option.ts'
import { POLICY_ONLY } from '../options/options.ts'
import { limitOverrides } from '../overrides/limit-overrides.ts'
import { MODES } from '../policy/mode.ts'
import { compilePolicy, type PolicyInput } from '../policy/policy.ts'
import { nodeProcess } from '../process/built-in.ts'
import { type Environment, EnvironmentReader } from './environment-reader.ts'

/**
 * Returns `defaults` with what environment variables that begin with `prefix` set. Variables that are unset or empty
 * keep the default, and variables with other names are ignored. `environment` is by default that of the process.
 *
 * - `LIMIT`, `BURST`, `SLICES`: integers of at least 1
 * - `WINDOW`: a duration such as `30s` or `1d`
 * - `ALGORITHM`: such as `token-bucket`
 * - `MODE`: `enforce`, `shadow` or `off`
 * - `OVERRIDES`: limits of single keys as `key=limit,key=limit`, which replace the default ones
 *
 * Throws one `SLUICE_BAD_OPTION` that lists all invalid variables, and the errors of policies if the result is invalid.
 */
export function policyFromEnv<Options extends PolicyInput>(
  prefix: string,
  defaults: Options,
  environment: Environment = nodeProcess?.env ?? {},
): Options & PolicyInput {
  if (typeof prefix !== 'string') throw badOption('prefix', prefix, "the beginning of names, such as 'API_'")
  const reader = new EnvironmentReader(prefix, environment)
  const limits = reader.limits('OVERRIDES')
  const read = {
    limit: reader.limit('LIMIT'),
    window: reader.duration('WINDOW'),
    algorithm: reader.oneOf('ALGORITHM', Object.keys(algorithms)),
    burst: reader.limit('BURST'),
    slices: reader.limit('SLICES'),
    mode: reader.oneOf('MODE', MODES),
    overrides: limits && reader.check(() => limitOverrides({ limits })),
  }
  reader.refuse()
  const given = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
  const options = { ...defaults, ...given }
  const policy = compilePolicy(policyPartOf(options))
  algorithms[policy.algorithm].compile(policy)
  return options
}

/** Returns the options of a policy, without those that only limiters have. */
function policyPartOf(options: PolicyInput): PolicyInput {
  const names: readonly string[] = POLICY_ONLY
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))) as object as PolicyInput
}
