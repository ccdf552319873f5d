import type { ASTNode } from '@marcbachmann/cel-js'
import type { RE2JS } from 're2js'
import { suggestion } from '../document/suggestion.ts'
import { BUILT_IN_ATTRIBUTES } from './attribute-source.ts'
import { compiledPattern, LINEAR_MATCHES } from './linear-patterns.ts'

const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])
/** Fields of `request` in a condition. */
const REQUEST_FIELDS: readonly string[] = [...BUILT_IN_ATTRIBUTES, 'headers']

/** Collects the names that a condition reads, and rejects what would make its cost depend on the request. */
export class ConditionNames {
  readonly fields: Set<string> = new Set()
  readonly headers: Set<string> = new Set()
  readonly attributes: Set<string> = new Set()
  /** Patterns of `matches`. */
  readonly patterns: RE2JS[] = []

  visit(node: ASTNode, isInLoop: boolean): void {
    if (this.#readVariable(node)) return
    const { op, args } = node
    if (op === 'id' && (args === 'request' || args === 'attributes')) {
      throw new Error(
        `expected a field of ${args}, such as ${args === 'request' ? 'request.method' : 'attributes.plan'}`,
      )
    }
    if (op === 'rcall') this.#visitCall(node, isInLoop)
    else this.#visitAll(args, isInLoop)
  }

  #visitCall(node: ASTNode, isInLoop: boolean): void {
    const [name, receiver, values] = node.args as unknown as [string, ASTNode, readonly ASTNode[]]
    if (name === 'matches') this.#useLinearTime(node, values)
    const isLoop = LOOPS.has(name)
    if (isLoop && isInLoop) throw new Error(`expected no loop inside of another loop, received ${name}()`)
    this.visit(receiver, isInLoop)
    this.#visitAll(values, isInLoop || isLoop)
  }

  #visitAll(args: unknown, isInLoop: boolean): void {
    if (Array.isArray(args)) for (const one of args) this.#visitAll(one, isInLoop)
    else if (isNode(args)) this.visit(args, isInLoop)
  }

  /** Records `request.x`, `request.headers.x` and `attributes.x`, also with an index in place of the dot. */
  #readVariable(node: ASTNode): boolean {
    const access = fieldOf(node)
    if (!access) return false
    const { of, name } = access
    if (of.op === 'id' && of.args === 'attributes') {
      this.attributes.add(name)
      return true
    }
    if (of.op === 'id' && of.args === 'request') {
      if (name === 'headers') throw new Error("expected the name of a header, as in request.headers['x-plan']")
      if (!REQUEST_FIELDS.includes(name)) {
        throw new Error(`request has no field '${name}'${suggestion(name, REQUEST_FIELDS)}`)
      }
      this.fields.add(name)
      return true
    }
    const outer = fieldOf(of)
    if (outer?.name !== 'headers' || outer.of.op !== 'id' || outer.of.args !== 'request') return false
    if (name !== name.toLowerCase())
      throw new Error(`expected the name of the header in lower case, received '${name}'`)
    this.headers.add(name)
    return true
  }

  #useLinearTime(node: ASTNode, [pattern]: readonly ASTNode[]): void {
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
      throw new Error('expected a text as the pattern of matches()')
    }
    this.patterns.push(compiledPattern(pattern.args))
    const args = node.args as unknown as [string, ...unknown[]]
    args[0] = LINEAR_MATCHES
  }
}

/** Returns what `a.b` and `a['b']` access; undefined for other expressions, and for an index that is not a text. */
function fieldOf({ op, args }: ASTNode): { readonly of: ASTNode; readonly name: string } | undefined {
  if (op !== '.' && op !== '[]') return undefined
  const [of, field] = args as unknown as [ASTNode, string | ASTNode]
  const name = typeof field === 'string' ? field : field.op === 'value' ? field.args : undefined
  return typeof name === 'string' ? { of, name } : undefined
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}
