import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { messageOf, type SluiceError } from '@sluice/limiter-core/backend'
import type { ControlRequest } from '../control/control.ts'
import type { InsightSource } from './insight-source.ts'
import { queryOf } from './mounted-address.ts'
import { bodyOf } from './page-body.ts'
import { answerJson, answerProblem, type Problem } from './page-response.ts'

const MAX_BYTES = 16_384
/** Forms of other sites cannot send this header. */
const HEADER = 'sluice-control'

const NO_HEADER: Problem = {
  status: 403,
  title: 'Forbidden',
  detail: 'Send changes as JSON with the header Sluice-Control: 1.',
}
const NO_JSON: Problem = { status: 400, title: 'Bad Request', detail: 'Expected a JSON object of at most 16 KiB.' }
const NOT_SEEN: Problem = {
  status: 404,
  title: 'Not Found',
  detail: 'This process has not recently seen a key with this ID. Look up the key itself.',
}
const NOT_ACTIVE: Problem = { status: 404, title: 'Not Found', detail: 'There is no active change with this ID.' }

/** Queries and changes over HTTP. Access has been checked before. */
export class PageActions {
  readonly #insight: InsightSource
  /** Whether changes are allowed. */
  readonly #canAct: boolean
  readonly #clock: Clock

  constructor(insight: InsightSource, canAct: boolean, clock: Clock) {
    this.#insight = insight
    this.#clock = clock
    this.#canAct = canAct
  }

  /** Whether the file is a query. */
  isQuery(file: string): boolean {
    return file === 'explain' || file === 'control'
  }

  /** Whether the file is a change. */
  isChange(file: string): boolean {
    return file === 'control' || file === 'undo'
  }

  /** Never rejects. */
  async query(req: IncomingMessage, res: ServerResponse, file: string): Promise<void> {
    if (file === 'explain') return this.#answered(res, () => this.#explain(res, queryOf(req)))
    answerJson(res, { canAct: this.#canAct, controls: this.#insight.controls(), audit: this.#insight.audit() })
  }

  /** Never rejects. */
  async change(req: IncomingMessage, res: ServerResponse, file: string): Promise<void> {
    if (req.headers[HEADER] !== '1') return answerProblem(res, NO_HEADER)
    await this.#answered(res, async () => {
      const fields = jsonOf(await bodyOf(req, MAX_BYTES, this.#clock))
      if (fields === undefined) answerProblem(res, NO_JSON)
      else if (file === 'undo') await this.#undo(res, fields)
      else await this.#control(res, fields)
    })
  }

  async #explain(res: ServerResponse, query: URLSearchParams): Promise<void> {
    const id = query.get('id')
    const key = id === null ? (query.get('key') ?? '') : this.#insight.keyOf(id)
    if (key === undefined) return answerProblem(res, NOT_SEEN)
    const cost = Number(query.get('cost') ?? 1)
    answerJson(res, await this.#insight.explain(key, { cost }))
  }

  /** Applies a change. The key may be given by its id, so that operators do not need the unmasked key. */
  async #control(res: ServerResponse, { id, ...request }: Readonly<Record<string, unknown>>): Promise<void> {
    const key = typeof id === 'string' ? this.#insight.keyOf(id) : undefined
    if (id !== undefined && key === undefined) return answerProblem(res, NOT_SEEN)
    const named = key === undefined ? request : { ...request, key }
    answerJson(res, await this.#insight.control({ by: 'page', ...named } as unknown as ControlRequest))
  }

  async #undo(res: ServerResponse, { id, by }: Readonly<Record<string, unknown>>): Promise<void> {
    const isUndone =
      typeof id === 'string' && (await this.#insight.undo(id, by === undefined ? 'page' : (by as string)))
    if (isUndone) answerJson(res, { id })
    else answerProblem(res, NOT_ACTIVE)
  }

  /** Answers coded errors with 400 and all other errors with 500. */
  async #answered(res: ServerResponse, answer: () => Promise<void>): Promise<void> {
    try {
      await answer()
    } catch (error) {
      const { code: refused } = Object(error) as Partial<SluiceError>
      const isRefused = typeof refused === 'string' && refused.startsWith('SLUICE_')
      const status = isRefused ? 400 : 500
      const title = isRefused ? 'Bad Request' : 'Internal Server Error'
      const code = isRefused ? { code: refused } : {}
      answerProblem(res, {
        status,
        title,
        detail: isRefused ? messageOf(error) : 'The request failed because of an internal error.',
        ...code,
      })
    }
  }
}

function jsonOf(body: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : body
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
