import type { ProofChallenge } from './proof-of-work.ts'
import { proofScript } from './proof-script.ts'

export interface ProofPageOptions {
  readonly challenge: ProofChallenge
  /** URL to which the form is posted again. Default: the URL of the page. */
  readonly action?: string
  /** Fields of the form that are posted again. `proof` is left out. */
  readonly fields?: Readonly<Record<string, string>>
  /** Nonce of the script and the style, for a content security policy such as `script-src 'nonce-...'`. */
  readonly nonce?: string
  /** Language of the page as in BCP 47. Default: `en`. */
  readonly lang?: string
  /** Default: `Checking your browser`. */
  readonly title?: string
  /** Text for clients without JavaScript. Default: a sentence in English. */
  readonly noScript?: string
}

/**
 * Returns an HTML page that solves a challenge and then posts the form again, with the answer in the field `proof`. It
 * loads nothing. Send it with `cache-control: no-store` and a status such as 403, because its hidden fields are those
 * of the form.
 */
export function proofPage({ challenge, action = '', fields = {}, nonce, ...texts }: ProofPageOptions): string {
  const { lang = 'en', title = 'Checking your browser' } = texts
  const { noScript = 'This check needs JavaScript. Allow it for this page, or try again later.' } = texts
  // an earlier answer is replaced
  const others = Object.entries(fields).filter(([name]) => name !== 'proof')
  const inputs = others.map(([name, value]) => hidden(name, value))
  const allowed = nonce === undefined ? '' : ` nonce="${escaped(nonce)}"`
  return `<!doctype html>
<html lang="${escaped(lang)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<noscript><p>${escaped(noScript)}</p></noscript>
<form method="post" action="${escaped(action)}">
${inputs.join('\n')}
<input type="hidden" name="proof" data-text="${escaped(challenge.text)}" data-bits="${challenge.bits}">
<progress aria-label="${escaped(title)}"></progress>
</form>
<script${allowed}>${proofScript}</script>
</html>
`
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
}
