import { kindOf } from '@sluice/limiter-core/backend'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { type FileProblem, MAX_PROBLEMS } from '../document/file-problem.ts'
import { policySchema, type SchemaPart } from '../document/policy-schema.ts'
import { suggestion } from '../document/suggestion.ts'
import { type Path, type PositionedDocument, textOfPath } from './positions.ts'

let compiled: ValidateFunction | undefined

function compileSchema(): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true })
  ajv.addKeyword({ keyword: 'expected', schemaType: 'string' })
  return ajv.compile(policySchema)
}

/** Most characters of a text in a message. */
const MAX_SHOWN = 80

/** Keywords of a choice between forms: its form that fits best has problems of its own. */
const CHOICES: readonly string[] = ['anyOf', 'type']

/** Returns where the contents of a document differ from the schema. */
export function schemaProblems(document: PositionedDocument, value: unknown): FileProblem[] {
  compiled ??= compileSchema()
  const validate = compiled
  if (validate(value)) return []
  const errors = validate.errors ?? []
  const covered = parentsOf(errors)
  const problems = new Map<string, FileProblem>()
  for (const error of errors) {
    if (problems.size === MAX_PROBLEMS) break
    if (CHOICES.includes(error.keyword) && covered.has(error.instancePath)) continue
    const problem = problemOf(error, pathOf(error, value), document)
    const at = `${problem.line}:${problem.column}:${problem.path}`
    // a choice describes all forms of its value, the problems of its forms one each
    if (!problems.has(at) || error.keyword === 'anyOf') problems.set(at, problem)
  }
  return [...problems.values()]
}

function problemOf(error: ErrorObject, path: Path, document: PositionedDocument): FileProblem {
  const { keyword, params, data } = error
  const { expected, properties = {} } = error.parentSchema as SchemaPart
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty)
    const hint = suggestion(name, Object.keys(properties as object))
    const message = `unknown field '${name}'${hint}`
    return { ...document.positionOfName(path, name), path: textOfPath(path), message }
  }
  if (keyword === 'required') {
    return document.problemAt(path, `the field '${params.missingProperty}' is missing`)
  }
  const hint =
    typeof data === 'string' && Array.isArray(params.allowedValues) ? suggestion(data, params.allowedValues) : ''
  return document.problemAt(path, `expected ${expected ?? error.message}, received ${received(data)}${hint}`)
}

/** Unlike options, a file has no secrets: its texts are shown. */
function received(data: unknown): string {
  if (typeof data === 'string') return data.length > MAX_SHOWN ? `a text of ${data.length} characters` : `'${data}'`
  return typeof data === 'object' && data !== null ? kindOf(data) : String(data)
}

/** Converts a JSON Pointer; steps into lists become numbers. */
function pathOf({ instancePath }: ErrorObject, root: unknown): Path {
  let value = root
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(value) ? Number(name) : name
      value = (value as Record<string | number, unknown>)[step]
      return step
    })
}

/** Returns the JSON Pointers of the values around the places of errors. */
function parentsOf(errors: readonly ErrorObject[]): ReadonlySet<string> {
  const parents = new Set<string>()
  for (const { instancePath } of errors) {
    for (let end = instancePath.lastIndexOf('/'); end >= 0; end = instancePath.lastIndexOf('/', end - 1)) {
      const parent = instancePath.slice(0, end)
      if (parents.has(parent)) break
      parents.add(parent)
      if (end === 0) break
    }
  }
  return parents
}
