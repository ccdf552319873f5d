import { expect } from '@jest/globals'
import { counterOpenApi } from '@sluice/counters'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export interface SeenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed body, if it is JSON. */
  readonly json: Readonly<Record<string, unknown>>
}

interface Described {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

export const paths = counterOpenApi.paths as Paths
const DOCUMENT = 'https://sluice.test/openapi'
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true })
// an OpenAPI document is not a schema: everything beside its schemas is ignored
ajv.addVocabulary(['openapi', 'info', 'paths', 'components'])
ajv.addSchema({ ...counterOpenApi }, DOCUMENT)

/** Returns the schema of a component, compiled in strict mode: an unknown keyword throws. */
export function schemaOf(name: string): ValidateFunction {
  return compiled(`#/components/schemas/${name}`)
}

/** Throws unless the OpenAPI document describes this answer. Unknown paths must answer with a problem. */
export function expectDescribed(method: string, path: string, answer: SeenAnswer): void {
  const { status, headers, text, json } = answer
  const seen = { method, path, status, text: text.slice(0, 300) }
  const type = String(headers['content-type'] ?? '').split(';')[0]
  const errors = status >= 400 ? problemErrors(type, method, json) : successErrors(method, path, { ...answer, type })
  expect({ seen, errors }).toEqual({ seen, errors: [] })
}

function successErrors(
  method: string,
  path: string,
  { status, text, json, type }: SeenAnswer & { readonly type: string },
): unknown[] {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const template = templateOf(path.split('?')[0], verb)
  const response = paths[template]?.[verb]?.responses[String(status)]
  if (!response) return [`${template} has no ${verb} that answers ${status}`]
  if (!response.content) return text === '' ? [] : ['the body should be empty']
  if (!Object.hasOwn(response.content, type)) return [`its type is ${type}`]
  if (type !== 'application/json' || method === 'HEAD') return []
  const pointer = ['paths', template, verb, 'responses', String(status), 'content', type, 'schema']
  const check = compiled(`#/${pointer.map((part) => encodeURIComponent(part.replaceAll('/', '~1'))).join('/')}`)
  return check(json) ? [] : [...(check.errors ?? [])]
}

/**
 * Returns the path template of the document that matches a path and has the method, literal segments before parameters.
 */
function templateOf(path: string, verb: string): string {
  const segments = path.split('/')
  const fits = (template: string): boolean => {
    const names = template.split('/')
    return names.length === segments.length && names.every((name, i) => name.startsWith('{') || name === segments[i])
  }
  const templates = Object.keys(paths).filter((template) => fits(template) && paths[template][verb])
  return templates.find((template) => !template.includes('{')) ?? templates[0] ?? 'none'
}

function problemErrors(type: string, method: string, json: unknown): unknown[] {
  if (type !== 'application/problem+json') return [`its type is ${type}`]
  if (method === 'HEAD') return []
  const check = schemaOf('Problem')
  return check(json) ? [] : [...(check.errors ?? [])]
}

function compiled(fragment: string): ValidateFunction {
  const check = ajv.getSchema(`${DOCUMENT}${fragment}`)
  if (!check) throw new Error(`the document has no ${fragment}`)
  return check
}
