import type { Environment } from '@marcbachmann/cel-js'
import { messageOf } from '@sluice/limiter-core/backend'
import type { RE2JS } from 're2js'
import type { AttributeValue } from '../document/policy-document.ts'
import { type AttributeSource, headerAttribute } from './attribute-source.ts'
import { loadCel } from './cel/generated.ts'
import { ConditionCost, RequestCost } from './condition-cost.ts'
import { ConditionNames } from './condition-names.ts'
import { compiledPattern, LINEAR_MATCHES } from './linear-patterns.ts'

/** Bounds of the text of a condition. Loops over lists cannot be nested. */
const LIMITS = { maxAstNodes: 200, maxDepth: 20, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 8 }

let environment: Environment | undefined

/** Returns the variables and functions of conditions. Loads the library for the first condition of the process. */
function environmentOfConditions(): Environment {
  const { Environment } = loadCel()
  return new Environment({ limits: LIMITS })
    .registerVariable('request', 'map')
    .registerVariable('attributes', 'map')
    .registerFunction(`string.${LINEAR_MATCHES}(string): bool`, (text: string, pattern: string) =>
      compiledPattern(pattern).matcher(text).find(),
    )
}

/** A condition in CEL about the attributes and headers of a request. */
export class Condition {
  /** Names of the attributes that the condition reads, including `header:name` for headers. */
  readonly attributes: readonly string[]
  /** Patterns of `matches`, which stay compiled as long as the condition exists. */
  readonly patterns: readonly RE2JS[]
  readonly #evaluate: (context: Record<string, unknown>) => unknown
  readonly #cost: ConditionCost
  readonly #headers: readonly string[]
  readonly #fields: readonly string[]
  readonly #registered: readonly string[]

  /** Throws an error whose message says what is wrong if the text is not a condition. */
  constructor(text: string) {
    environment ??= environmentOfConditions()
    const parsed = environment.parse(text)
    const reads = new ConditionNames()
    reads.visit(parsed.ast, false)
    const { valid, type, error } = parsed.check()
    if (!valid) throw new Error(firstLineOf(error))
    if (type !== 'bool' && type !== 'dyn') throw new Error(`expected a condition of type bool, received ${type}`)
    this.#cost = new ConditionCost(parsed.ast)
    this.#evaluate = parsed as (context: Record<string, unknown>) => unknown
    this.patterns = reads.patterns
    this.#headers = [...reads.headers]
    this.#fields = [...reads.fields]
    this.#registered = [...reads.attributes]
    this.attributes = [...new Set([...this.#headers.map(headerAttribute), ...this.#fields, ...this.#registered])]
  }

  /**
   * Returns whether a request meets the condition, or 'exceeded' if that takes longer than `cost` allows. Missing
   * headers are empty texts, missing attributes are null. Throws if the condition cannot be evaluated, for example because it
   * compares a text with a number by `<`.
   */
  isMetBy(read: AttributeSource, cost: RequestCost): boolean | 'exceeded' {
    const request: Record<string, unknown> = valuesOf(this.#fields, read)
    if (this.#headers.length > 0) {
      request.headers = Object.fromEntries(this.#headers.map((name) => [name, read(headerAttribute(name)) ?? '']))
    }
    const attributes = valuesOf(this.#registered, read)
    const met = this.#cost.within(cost, () => this.#evaluate({ request, attributes }))
    if (met === 'exceeded' || typeof met === 'boolean') return met
    throw new Error(`expected true or false, received ${typeof met}`)
  }

  /**
   * Returns whether all requests with these attributes meet the condition; undefined if that depends on attributes
   * that are not among them, or if the condition cannot be evaluated.
   */
  outcomeOf(known: ReadonlyMap<string, AttributeValue>): boolean | undefined {
    const request = unlessUnknown(this.#fields, (name) => known.get(name))
    const headers = unlessUnknown(this.#headers, (name) => known.get(headerAttribute(name)))
    Object.defineProperty(request, 'headers', { value: headers, enumerable: true })
    const attributes = unlessUnknown(this.#registered, (name) => known.get(name))
    try {
      const met = this.#cost.within(new RequestCost(), () => this.#evaluate({ request, attributes }))
      return typeof met === 'boolean' ? met : undefined
    } catch {
      return undefined
    }
  }
}

/** Returns an object whose fields throw if the condition reads one that is unknown. */
function unlessUnknown(names: readonly string[], read: AttributeSource): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const get = (): AttributeValue => {
      const value = read(name)
      if (value === undefined) throw new Error(`'${name}' is unknown`)
      return value
    }
    Object.defineProperty(values, name, { get, enumerable: true })
  }
  return values
}

/** Returns what is wrong with a condition, without the excerpt of the text. */
export function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : messageOf(error)
  return message.split('\n', 1)[0]
}

function valuesOf(names: readonly string[], read: AttributeSource): Record<string, AttributeValue | null> {
  return Object.fromEntries(names.map((name) => [name, read(name) ?? null]))
}
