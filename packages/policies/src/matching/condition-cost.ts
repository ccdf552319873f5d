import { compiledPattern, LINEAR_MATCHES } from './linear-patterns.ts'

/** Cost that all conditions of one request share. A unit takes about 10 ns. */
const COST_PER_REQUEST = 250_000
/** Cost that each condition may have in addition, for what its text compares. */
const COST_PER_CONDITION = 2000
/** Cost of a step in a loop, for each node of the loop. */
const NODE_COST = 5
/** Cost of an element of a list, in addition to its characters. */
const ELEMENT_COST = 3
/** Cost of a function that formats a date in a time zone. */
const TIME_ZONE_COST = 10_000

/** A node as the library has checked it. */
interface CheckedNode {
  readonly op: string
  readonly args: unknown
  /** Applies a function or operator to its evaluated arguments: a list of them, or one or two values. */
  handle?: (...args: readonly unknown[]) => unknown
  /** Takes the place of a loop: all, exists, exists_one, filter or map. */
  readonly meta?: { readonly alternate?: { readonly args: { condition?: (found: unknown) => boolean } } }
}

/** The cost that is left for the conditions of one request. */
export class RequestCost {
  left: number = COST_PER_REQUEST
}

/** Limits the cost of one condition by what it reads from a request. Its functions and loops draw on it. */
export class ConditionCost {
  #left = 0

  /** `ast`: the condition, after its types have been checked. */
  constructor(ast: unknown) {
    this.#limit(ast)
  }

  /** Returns the result of the condition, or 'exceeded' if it costs more than is left of the request. */
  within<T>(request: RequestCost, evaluate: () => T): T | 'exceeded' {
    this.#left = request.left + COST_PER_CONDITION
    try {
      const result = evaluate()
      return this.#isExceeded ? 'exceeded' : result
    } catch (error) {
      if (this.#isExceeded) return 'exceeded'
      throw error
    } finally {
      request.left = Math.max(0, Math.min(request.left, this.#left))
    }
  }

  get #isExceeded(): boolean {
    return this.#left < 0
  }

  /** Makes a node and the nodes in it draw on the cost. Returns their number. */
  #limit(value: unknown): number {
    if (Array.isArray(value)) return value.reduce((nodes: number, one) => nodes + this.#limit(one), 0)
    if (typeof value !== 'object' || value === null || !('op' in value)) return 0
    const node = value as CheckedNode
    const nodes = 1 + this.#limit(node.args)
    const loop = node.meta?.alternate?.args
    if (typeof loop === 'object' && 'iterable' in loop) this.#limitLoop(loop, nodes)
    const { handle } = node
    if (handle && !ACCESSES.has(node.op)) {
      const costOf = costOfCalls(node)
      node.handle = (...args) => {
        this.#spend(costOf(args))
        return handle(...args)
      }
    }
    return nodes
  }

  #limitLoop(loop: { condition?: (found: unknown) => boolean }, nodes: number): void {
    const { condition } = loop
    loop.condition = (found) => {
      // the loops `all` and `exists` ignore errors of their steps
      if (this.#isExceeded) return false
      this.#spend(nodes * NODE_COST)
      return condition === undefined || condition(found)
    }
  }

  #spend(cost: number): void {
    this.#left -= cost
    // an error object for each step that a condition ignores would take longer than the steps
    if (this.#isExceeded) throw 'exceeded'
  }
}

/** Operators that take constant time. */
const ACCESSES: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]', '?:'])

type Cost = (args: readonly unknown[]) => number

/** Functions whose cost is not proportional to what they read. */
const COSTS: Readonly<Record<string, Cost>> = {
  contains: costOfSearch,
  indexOf: costOfSearch,
  lastIndexOf: costOfSearch,
  split: (args) => costOfSearch(args) + ELEMENT_COST * sizeOf(args[0]),
  join: ([list, separator = '']) => (Array.isArray(list) ? list.length : 0) * sizeOf(separator),
  // its regular expression takes cubic time
  duration: ([text]) => sizeOf(text) ** 3 / 10,
  [LINEAR_MATCHES]: ([text, pattern]) => sizeOf(text) * compiledPattern(pattern as string).programSize(),
}

/** Returns the cost of each call of a node. */
function costOfCalls({ op, args }: CheckedNode): Cost {
  if (op !== 'call' && op !== 'rcall') return ([left, right]) => sizeOf(left) + (isBinary(args) ? sizeOf(right) : 0)
  const [name] = args as readonly [string]
  const own = Object.hasOwn(COSTS, name) ? COSTS[name] : name.startsWith('get') ? costOfDate : () => 0
  return ([values]) => sizeOf(values) + own(values as readonly unknown[])
}

function isBinary(args: unknown): boolean {
  return Array.isArray(args) && args.length === 2
}

/** A naive search compares each character of the text with each of the other. */
function costOfSearch([text, searched]: readonly unknown[]): number {
  return (sizeOf(text) * sizeOf(searched)) / 20
}

function costOfDate({ length }: readonly unknown[]): number {
  return length > 1 ? TIME_ZONE_COST : 0
}

/** Returns the characters and elements in a value. */
function sizeOf(value: unknown): number {
  let size = 0
  // values of JSON may be nested too deep for a recursion
  const values = [value]
  while (values.length > 0) {
    const one = values.pop()
    if (typeof one === 'string') size += one.length
    const inner = elementsOf(one)
    size += ELEMENT_COST * inner.length
    for (const each of inner) values.push(each)
  }
  return size
}

function elementsOf(value: unknown): ArrayLike<unknown> & Iterable<unknown> {
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value) || value instanceof Uint8Array ? value : Object.values(value).concat(Object.keys(value))
}
