import { type PolicyDocument, parsePolicies } from '@sluice/policies'
import { counted, findingLine } from '../check/check-report.ts'
import { exitCodeOf } from '../replay/command-streams.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { contentsOf, writeContents } from '../terminal/file-text.ts'
import { hasColor, type Terminal } from '../terminal/terminal.ts'
import type { DescriptionFinding } from './description-finding.ts'
import { type LimitedDescription, limitedDescription } from './description-limits.ts'
import type { Dialect } from './rate-headers.ts'
import { YamlText } from './yaml-text.ts'

export interface OpenapiCommandOptions {
  readonly policies: string
  readonly output?: string
  readonly check?: boolean
  readonly headers: readonly Dialect[]
  readonly overload?: boolean
  readonly partial?: boolean
}

interface Findings {
  readonly file: string
  readonly findings: readonly DescriptionFinding[]
}

/**
 * Writes the description with the limits of the policies. With `check` it writes the differences instead, and returns 1
 * if there are any. Returns 1 if a file is invalid.
 */
export async function openapiCommand(
  file: string,
  { policies, output, check = false, headers, overload = false, partial = false }: OpenapiCommandOptions,
  { stdout, stderr, env }: Terminal,
): Promise<number> {
  return exitCodeOf(async () => {
    const policyText = await contentsOf(policies)
    const document = parsePolicies(policyText, policies)
    const text = await contentsOf(file)
    const limited = limitedDescription(text, document, { file, dialects: headers, overload })
    const unused = unusedRoutes(limited, document, policyText, partial || !check)
    if (check) {
      const found: Findings[] = [
        { file, findings: limited.findings },
        { file: policies, findings: unused },
      ]
      stdout.write(lines(found, hasColor(stdout, env)) + summary(file, limited, found))
      return errorsIn(found) === 0 ? EXIT.ok : EXIT.problems
    }
    const notes = limited.findings.filter(({ severity }) => severity === 'hint')
    if (output === undefined) stdout.write(limited.text)
    else if (output !== file || limited.text !== text) await writeContents(output, limited.text)
    const found = [
      { file, findings: notes },
      { file: policies, findings: unused },
    ]
    stderr.write(lines(found, hasColor(stderr, env)))
    return EXIT.ok
  }, stderr)
}

/** Returns the routes of policies that the description does not have. */
function unusedRoutes(
  { unusedRoutes: routes }: LimitedDescription,
  { policies }: PolicyDocument,
  policyText: string,
  isPartial: boolean,
): DescriptionFinding[] {
  if (routes.length === 0) return []
  const source = new YamlText(policyText, '')
  return policies.flatMap(({ name, match }, place) => {
    const own = [match?.route ?? []].flat().map(String)
    const position = source.positionOf(source.itemOf('policies', place))
    return own
      .filter((route) => routes.includes(route))
      .map((route) => ({
        ...position,
        severity: isPartial ? ('hint' as const) : ('error' as const),
        message: `the description has no operation for the route '${route}' of '${name}'`,
      }))
  })
}

function lines(found: readonly Findings[], isColored: boolean): string {
  return found
    .flatMap(({ file, findings }) => findings.map((finding) => `${findingLine(file, finding, isColored)}\n`))
    .join('')
}

function errorsIn(found: readonly Findings[]): number {
  return found.flatMap(({ findings }) => findings).filter(({ severity }) => severity === 'error').length
}

function summary(file: string, { operations, limited }: LimitedDescription, found: readonly Findings[]): string {
  const errors = errorsIn(found)
  const scope = `${counted(operations, 'operation') || '0 operations'}, ${limited} with limits`
  if (errors === 0) return `${scope}: the description agrees with the policies\n`
  return `${scope}: ${counted(errors, 'difference')}; run sluice openapi --output ${file} to add them\n`
}
