import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { pageFiles } from './generated.ts'
import type { InsightSource } from './insight-source.ts'
import { type MountedAddress, mountedAddress } from './mounted-address.ts'
import { crossSite, refusalOf, tokenInAddress } from './page-access.ts'
import { PageActions } from './page-actions.ts'
import { submittedToken } from './page-login.ts'
import { answerProblem, answerRedirect, type PageFile, type Problem, secure, sendFile } from './page-response.ts'
import { bearerOf, PageSession } from './page-session.ts'
import { PageStream } from './page-stream.ts'
import { WrongTokens } from './wrong-tokens.ts'

const CLOSED: Problem = { status: 503, title: 'Service Unavailable', detail: 'The dashboard has been closed.' }
const FULL: Problem = { status: 503, title: 'Service Unavailable', detail: 'Too many dashboard pages are open.' }
const READ_ONLY: Problem = {
  status: 403,
  title: 'Forbidden',
  detail: 'Without a token the dashboard is read-only.',
}
const NOT_FIRST: Problem = { status: 400, title: 'Bad Request', detail: 'A pipelined request cannot open the stream.' }
const NOT_FOUND: Problem = { status: 404, title: 'Not Found', detail: 'There is no page at this address.' }
const NOT_ALLOWED: Problem = { status: 405, title: 'Method Not Allowed', detail: 'Only GET and HEAD are allowed.' }
const WRONG_TOKEN: Problem = { status: 401, title: 'Unauthorized', detail: 'The token is wrong.' }

/** Validated options of a dashboard. */
export interface CheckedOptions {
  readonly insight: InsightSource
  readonly token: string | undefined
  readonly path: string
  readonly updateMs: number
  readonly clock: Clock
}

/** Responds to every request below the address of a dashboard. */
export class DashboardPage {
  readonly #path: string
  readonly #session: PageSession | undefined
  readonly #stream: PageStream
  readonly #actions: PageActions
  readonly #wrongTokens: WrongTokens
  readonly #clock: Clock
  #isClosed = false

  constructor({ insight, token, path, updateMs, clock }: CheckedOptions) {
    this.#path = path
    this.#clock = clock
    this.#session = token === undefined ? undefined : new PageSession(token, clock)
    this.#stream = new PageStream(insight, clock, updateMs)
    this.#actions = new PageActions(insight, token !== undefined, clock)
    this.#wrongTokens = new WrongTokens(clock)
  }

  handle(req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void, path: string = this.#path): void {
    const address = mountedAddress(req, path)
    if (address === undefined && next !== undefined) next()
    else this.#answer(req, res, address)
  }

  #answer(req: IncomingMessage, res: ServerResponse, address: MountedAddress | undefined): void {
    secure(res)
    const refusal = address === undefined ? NOT_FOUND : tokenInAddress(req)
    if (address === undefined || refusal !== undefined) answerProblem(res, refusal ?? NOT_FOUND)
    else if (this.#isClosed) answerProblem(res, CLOSED)
    else if (address.redirect !== undefined) answerRedirect(res, 307, address.redirect)
    else if (req.method === 'POST') this.#post(req, res, address)
    else if (req.method !== 'GET' && req.method !== 'HEAD') answerProblem(res, NOT_ALLOWED)
    else this.#get(req, res, address)
  }

  close(): void {
    this.#isClosed = true
    this.#stream.close()
  }

  #get(req: IncomingMessage, res: ServerResponse, { file }: MountedAddress): void {
    // the login form needs the style sheet
    const refusal = file === 'page.css' ? undefined : this.#refusalOf(req, res)
    if (refusal !== undefined) refuse(req, res, refusal)
    else if (file === 'stream') this.#open(req, res)
    else if (this.#actions.isQuery(file)) void this.#actions.query(req, res, file)
    else if (file === '') this.#file(res, 'page.html', { logout: this.#session === undefined ? 'hidden' : '' })
    else this.#file(res, file.endsWith('.html') ? '' : file)
  }

  #file(res: ServerResponse, name: string, texts: Readonly<Record<string, string>> = {}): void {
    const found = pageFiles.get(name)
    if (found === undefined) answerProblem(res, NOT_FOUND)
    else sendFile(res, filled(found, texts))
  }

  #open(req: IncomingMessage, res: ServerResponse): void {
    // the response is queued behind a pipelined one, so it would not be notified when its connection closes
    if (res.socket === null) answerProblem(res, NOT_FIRST)
    else if (this.#stream.isFull) answerProblem(res, FULL)
    else if (req.method === 'HEAD') sendFile(res, { type: 'text/event-stream', text: '' })
    else this.#stream.open(res)
  }

  #post(req: IncomingMessage, res: ServerResponse, { file, folder }: MountedAddress): void {
    const session = this.#session
    if (this.#actions.isChange(file)) this.#act(req, res, file)
    else {
      const refusal = session === undefined ? this.#refusalOf(req, res) : crossSite(req)
      if (refusal !== undefined) answerProblem(res, refusal)
      else if (session === undefined || !['login', 'logout'].includes(file)) answerProblem(res, NOT_FOUND)
      else if (file === 'login') this.#logIn(req, res, session, folder).catch(() => res.destroy())
      else {
        res.setHeader('Set-Cookie', session.endingCookie(req, folder))
        answerRedirect(res, 303, './')
      }
    }
  }

  /** Applies a change. Changes always require a token, even from localhost. */
  #act(req: IncomingMessage, res: ServerResponse, file: string): void {
    const refusal = this.#refusalOf(req, res) ?? (this.#session === undefined ? READ_ONLY : undefined)
    if (refusal !== undefined) answerProblem(res, refusal)
    else this.#actions.change(req, res, file).catch(() => res.destroy())
  }

  /** Returns why a request may not view the dashboard. Counts wrong tokens in its headers. */
  #refusalOf(req: IncomingMessage, res: ServerResponse): Problem | undefined {
    const session = this.#session
    if (session === undefined || !bearerOf(req)) return refusalOf(req, session)
    const attempt = this.#wrongTokens.attempt(req, res)
    if (attempt.refusal !== undefined) return attempt.refusal
    if (session.holds(req)) attempt.right()
    return refusalOf(req, session)
  }

  async #logIn(req: IncomingMessage, res: ServerResponse, session: PageSession, folder: string): Promise<void> {
    const attempt = this.#wrongTokens.attempt(req, res)
    if (attempt.refusal !== undefined) {
      refuse(req, res, attempt.refusal)
    } else if (!session.accepts(await submittedToken(req, this.#clock))) {
      refuse(req, res, WRONG_TOKEN)
    } else {
      attempt.right()
      res.setHeader('Set-Cookie', session.cookie(req, folder))
      answerRedirect(res, 303, './')
    }
  }
}

/** Responds to browsers with an HTML page, and to other clients with problem JSON. */
function refuse(req: IncomingMessage, res: ServerResponse, problem: Problem): void {
  const file = pageFiles.get(problem.status === 403 ? 'forbidden.html' : 'login.html')
  const isForBrowser = /\btext\/html\b/.test(req.headers.accept ?? '')
  // opening the login page is not an error
  const message = problem.status === 401 && req.method !== 'POST' ? '' : problem.detail
  if (isForBrowser && file !== undefined) sendFile(res, filled(file, { message }), problem.status)
  else answerProblem(res, problem)
}

/** Returns the file with placeholders replaced. */
function filled({ type, text }: PageFile, texts: Readonly<Record<string, string>>): PageFile {
  return { type, text: Object.entries(texts).reduce((whole, [name, value]) => whole.replace(`{${name}}`, value), text) }
}
