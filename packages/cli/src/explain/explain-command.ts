import { LivePage } from '../live/live-page.ts'
import { pageAddress } from '../live/page-address.ts'
import { PageFailure } from '../live/page-failure.ts'
import { tokenOf } from '../live/page-token.ts'
import { fields, list, number, optional, text } from '../live/shape.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { hasColor, type Terminal } from '../terminal/terminal.ts'
import { explanationText, type PageExplanation } from './explanation-text.ts'

export interface ExplainCommandOptions {
  readonly cost?: number
  readonly id?: boolean
  readonly token?: string
  readonly json?: boolean
}

/** Writes what each policy of a running server answers for one key. */
export async function explainCommand(
  url: string,
  key: string,
  { cost = 1, id = false, token, json = false }: ExplainCommandOptions,
  { stdout, env, clock, signal }: Terminal,
): Promise<number> {
  const address = pageAddress(url)
  const page = new LivePage({ address, token: tokenOf(token, env), clock })
  const query = new URLSearchParams({ [id ? 'id' : 'key']: key, cost: String(cost) })
  const answer = await page.json(`explain?${query}`, signal)
  if (!isExplanation(answer)) throw PageFailure.ofData(address, 'an explanation of another release')
  stdout.write(json ? `${safeJson(answer)}\n` : explanationText(answer, hasColor(stdout, env)))
  return EXIT.ok
}

const change = fields({
  ...{ action: text, by: text, endsAt: number },
  policy: optional(text),
  cap: optional(text),
  reason: optional(text),
})
const denial = fields({ at: number, policy: text, route: text, method: text, times: number })
const explanation = fields({
  ...{ key: text, at: number, cost: number },
  summary: list(text),
  controls: list(change),
  denials: list(denial),
})

function isExplanation(value: unknown): value is PageExplanation {
  return explanation(value)
}
