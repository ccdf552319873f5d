import { isDeepStrictEqual } from 'node:util'
import type { PolicyDocument } from '@sluice/policies'
import type { YAMLMap } from 'yaml'
import { DescribedComponents } from './described-components.ts'
import { DescribedResponses } from './described-responses.ts'
import type { DescriptionFinding, Report } from './description-finding.ts'
import { MapEdits } from './map-edits.ts'
import { OperationLimits } from './operation-limits.ts'
import { type Operation, operationsOf } from './operations.ts'
import { type Dialect, denialHeaders, type Part, rateHeaders } from './rate-headers.ts'
import { badDescription, nameOf, YamlText } from './yaml-text.ts'

export interface DescriptionOptions {
  /** Name of the description in messages. */
  readonly file: string
  readonly dialects: readonly Dialect[]
  /** Whether each operation may also be denied with 503. */
  readonly overload: boolean
}

/** A description with the limits of a policy file. */
export interface LimitedDescription {
  readonly text: string
  /** Differences from the description that was read, and operations without limits, in the order of the file. */
  readonly findings: readonly DescriptionFinding[]
  readonly operations: number
  /** Number of operations with limits. */
  readonly limited: number
  readonly unusedRoutes: readonly string[]
}

const VERSION = /^3\.\d+(\.|$)/
const LIMITS = 'x-rate-limits'
const BYTE_ORDER_MARK = '\ufeff'

/** Adds the limits of policies to a description. Throws `SLUICE_BAD_DESCRIPTION` if it is not OpenAPI 3. */
export function limitedDescription(
  text: string,
  document: PolicyDocument,
  { file, dialects, overload }: DescriptionOptions,
): LimitedDescription {
  // positions do not count the mark at the beginning of a file
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const source = openApi(text.slice(mark.length), file)
  const edits = new MapEdits(source)
  const findings: DescriptionFinding[] = []
  const report: Report = (severity, node, message) => {
    findings.push({ severity, message, ...source.positionOf(node) })
  }
  const limits = new OperationLimits(document)
  const { operations, missing } = operationsOf(source)
  const responses = new DescribedResponses(source, edits, report)
  const units = new Set<string>()
  let limited = 0
  for (const { path, reference, node } of missing) {
    report('hint', node, `${path}: the path item is not in this file (${reference}) and is not changed`)
  }
  for (const operation of operations) {
    const own = limits.of(operation)
    if (own.length > 0) limited++
    else report('hint', operation.map, `${operation.names[0]}: no policy applies`)
    for (const { unit } of own) units.add(String(unit))
    describeLimits(operation, own, { source, edits, report })
    const isDenied = own.length > 0 || document.lists?.block !== undefined
    responses.add(operation, {
      isLimited: own.length > 0,
      denials: [...(isDenied ? ['429'] : []), ...(overload ? ['503'] : [])],
    })
  }
  const headers = { all: rateHeaders(dialects, units), denied: denialHeaders(dialects) }
  const used = responses.describe(headers)
  new DescribedComponents(source, edits, report).describe(used, headers)
  findings.sort((a, b) => a.line - b.line || a.column - b.column)
  const changed = edits.isEmpty ? text : mark + edits.text()
  return { text: changed, findings, operations: operations.length, limited, unusedRoutes: limits.unusedRoutes }
}

function openApi(text: string, file: string): YamlText {
  const source = new YamlText(text, file)
  const { value } = source.pairOf(source.root, 'openapi') ?? {}
  const version = String(source.valueOf(value) ?? 'none')
  if (VERSION.test(version)) return source
  const position = source.positionOf(value ?? source.root)
  throw badDescription(file, position, `openapi: expected version 3.0 or 3.1, received ${version.slice(0, 20)}`)
}

function describeLimits(
  { map, names }: Operation,
  limits: readonly Part[],
  { source, edits, report }: { source: YamlText; edits: MapEdits; report: Report },
): void {
  const pair = source.pairOf(map, LIMITS)
  const described = pair ? source.valueOf(pair.value) : []
  if (isDeepStrictEqual(described, limits)) return
  if (limits.length > 0) {
    report('error', pair?.key ?? map, `${names[0]}: ${LIMITS} ${pair ? 'differs from the policies' : 'is missing'}`)
    edits.set(map, LIMITS, limits)
    return
  }
  report('error', pair?.key, `${names[0]}: ${LIMITS} is present, but no policy applies`)
  if (isOwn(map, LIMITS)) edits.remove(map, LIMITS)
  // the field of a merged map cannot be removed
  else edits.set(map, LIMITS, [])
}

function isOwn(map: YAMLMap, name: string): boolean {
  return map.items.some((pair) => nameOf(pair) === name)
}
