import { type Script, type ScriptRunner, SluiceError, systemClock } from '@sluice/limiter-core/backend'
import { brokenFailure, failureOfText, RedisFailure, unansweredFailure } from '../client/redis-failure.ts'
import { shaOf } from '../client/script-sha.ts'
import { requesterOf, type UpstashRedisClient, type UpstashRequester } from './upstash-client.ts'

type Command = readonly string[]

/** Time in ms after which a request is aborted. Callers stop waiting at their own deadlines, which are earlier. */
const ABORTED_MS = 5_000
/** Codes of Node.js for requests of which nothing was sent. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/**
 * Runs scripts over the REST protocol of Upstash, at the address and with the token of a client of `@upstash/redis`.
 * Requests are sent here and not by the client: it sends a request up to six times if no reply arrives, which would count
 * a take several times, and it converts replies that look like JSON.
 */
export class UpstashRunner implements ScriptRunner {
  /** A call belongs to the request of a Worker that made it, and ends with it. */
  readonly perTask = true
  readonly #requester: UpstashRequester

  /** Throws `SLUICE_BAD_OPTION` for a client without a URL and a token. */
  constructor(client: UpstashRedisClient) {
    const requester = requesterOf(client)
    if (!requester) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        'client: expected a Redis of @upstash/redis with url and token, received one that sends its requests otherwise',
      )
    }
    this.#requester = requester
  }

  async run(script: Script, keys: Command, args: readonly (string | number)[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args.map(String)]
    const answer = await this.#sent('', ['EVALSHA', shaOf(script), ...rest])
    const reply = replyOf(answer)
    if (!(reply instanceof RedisFailure)) return reply
    if (reply.code !== 'NOSCRIPT') throw reply
    return resultOf(replyOf(await this.#sent('', ['EVAL', script.text, ...rest])))
  }

  async sendCommands(commands: readonly Command[]): Promise<readonly unknown[]> {
    const answers = await this.#sent('/pipeline', commands)
    if (Array.isArray(answers) && answers.length === commands.length) return answers.map(replyOf)
    throw replyOf(answers)
  }

  /** Sends a request once, and returns the body of the response. */
  async #sent(path: string, body: Command | readonly Command[]): Promise<unknown> {
    const { baseUrl, headers, options } = this.#requester
    const abort = new AbortController()
    const cancel = systemClock.after(ABORTED_MS, () => abort.abort())
    try {
      const response = await fetch(baseUrl + path, {
        method: 'POST',
        headers: { ...headers, 'Upstash-Encoding': 'base64' },
        body: JSON.stringify(body),
        signal: abort.signal,
        ...(options && passedOptions(options)),
      })
      return answerOf(await response.text(), response.status)
    } catch (error) {
      throw abort.signal.aborted ? unansweredFailure() : sendingFailure(error)
    } finally {
      cancel()
    }
  }
}

/** Returns the options of a client that are set, because some runtimes refuse options that they do not know. */
function passedOptions({ agent, backend, cache }: NonNullable<UpstashRequester['options']>): object {
  return { ...(agent ? { agent } : {}), ...(backend ? { backend } : {}), ...(cache ? { cache } : {}) }
}

/** Throws if the response is not an answer of Redis, but of a gateway or of a server that failed. */
function answerOf(text: string, status: number): unknown {
  const answer = parsed(text)
  if (answer !== undefined && status < 500) return answer
  const reason = typeof answer?.error === 'string' ? answer.error : 'without a reply of Redis'
  // a request that a gateway refuses does not reach Redis, and any other one may have
  const mayHaveCounted = status < 400 || status >= 500
  throw new RedisFailure('HTTP', `the server answered ${status}: ${reason}`, { mayHaveCounted })
}

function parsed(text: string): { readonly error?: unknown } | undefined {
  try {
    const answer = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

/** Returns the decoded reply of a command, or its failure. */
function replyOf(answer: unknown): unknown {
  const { result, error } = answer as { readonly result?: unknown; readonly error?: unknown }
  if (typeof error === 'string') return refusal(error)
  return decoded(result)
}

function resultOf(reply: unknown): unknown {
  if (reply instanceof RedisFailure) throw reply
  return reply
}

/** Returns the failure of an error text. The texts of Upstash's own errors have no code. */
function refusal(text: string): RedisFailure {
  const failure = failureOfText(text)
  return failure.code === 'CONNECTION' ? new RedisFailure('HTTP', text) : failure
}

/** Decodes the strings of a reply, which are base64, except `OK`. */
function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded)
  if (typeof value !== 'string' || value === 'OK') return value
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)))
  } catch {
    return value
  }
}

function sendingFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error
  const { cause } = (error ?? {}) as { readonly cause?: { readonly code?: unknown } }
  if (!UNSENT.includes(String(cause?.code))) return brokenFailure()
  return new RedisFailure('CONNECTION', `the server cannot be reached: ${cause?.code}`)
}
