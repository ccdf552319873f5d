import { CommandFailure, EXIT } from '../terminal/exit-code.ts'
import { boundedBody } from './response-body.ts'

const MAX_PROBLEM = 16_384

/** The live page does not respond, or refuses the request. The exit code is 3. */
export class PageFailure extends CommandFailure {
  /** Whether the same request can succeed later: the server may be starting or restarting. */
  readonly isTemporary: boolean

  private constructor(message: string, isTemporary: boolean) {
    super(EXIT.unavailable, message)
    this.name = 'PageFailure'
    this.isTemporary = isTemporary
  }

  static ofConnection(address: URL, reason: unknown): PageFailure {
    return new PageFailure(`${address}: ${reasonText(reason)}`, true)
  }

  static ofType(address: URL, received: string): PageFailure {
    return new PageFailure(`${address}: expected a live page of Sluice, received ${received}`, false)
  }

  static ofData(address: URL, problem: string): PageFailure {
    return new PageFailure(`${address}: expected data of a live page, received ${problem}`, false)
  }

  static async ofResponse(address: URL, response: Response): Promise<PageFailure> {
    const { status } = response
    const hints: Readonly<Record<number, string>> = {
      401: ' Set SLUICE_TOKEN to the token of the page.',
      404: ' Is this the address of the live page?',
    }
    const detail = await detailOf(response)
    return new PageFailure(`${address}: ${status} ${detail}${hints[status] ?? ''}`, status >= 500 || status === 429)
  }
}

/** Returns the text of a problem document, or the status of another response. */
async function detailOf(response: Response): Promise<string> {
  const { statusText, headers } = response
  try {
    const body = await boundedBody(response, MAX_PROBLEM)
    const { title, detail } = JSON.parse(body) as { readonly title?: unknown; readonly detail?: unknown }
    const isProblem = headers.get('content-type')?.startsWith('application/problem+json')
    return isProblem && typeof detail === 'string' ? `${title ?? statusText}: ${detail}` : statusText
  } catch {
    return statusText
  }
}

/** Returns the message of an error. `fetch` hides the reason of a failed connection in `cause`. */
function reasonText(reason: unknown): string {
  const { message, cause, errors } = Object(reason) as { message?: unknown; cause?: unknown; errors?: unknown }
  // one error for each address of a host
  if (Array.isArray(errors) && errors.length > 0) return reasonText(errors[0])
  if (cause !== undefined) return reasonText(cause)
  return typeof message === 'string' && message !== '' ? message : String(reason)
}
