import { proofScript } from './proof-script.ts'
import type { ProofChallenge } from './tasks.ts'

export interface ProofFieldOptions {
  readonly challenge: ProofChallenge
  /** Nonce of the script, for a content security policy such as `script-src 'nonce-...'`. */
  readonly nonce?: string | undefined
}

export interface ProofPageOptions extends ProofFieldOptions {
  /** URL to which the form is posted again. Default: the URL of the page. */
  readonly action?: string | undefined
  /** Fields of the form that are posted again. `proof` is left out. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** Language of the page as in BCP 47. Default: `en`. */
  readonly lang?: string | undefined
  /** Default: `Checking your browser`. */
  readonly title?: string | undefined
  /** Text for clients without JavaScript. Default: a sentence in English. */
  readonly noScript?: string | undefined
}

/**
 * Returns HTML for a form: a hidden field `proof` and a script that solves a challenge while the person fills in the
 * form. A form that is submitted earlier waits for the answer. It loads nothing.
 */
export function proofField({ challenge: { text, bits }, nonce }: ProofFieldOptions): string {
  const allowed = nonce === undefined ? '' : ` nonce="${escaped(nonce)}"`
  return `<input type="hidden" name="proof" data-text="${escaped(text)}" data-bits="${bits}">
<script${allowed}>${proofScript}</script>`
}

/**
 * Returns an HTML page that solves a challenge and then posts the form again, with the answer in the field `proof`. It
 * loads nothing. Send it with `cache-control: no-store` and a status such as 403, because its hidden fields are those
 * of the form.
 */
export function proofPage(options: ProofPageOptions): string {
  const { action = '', fields = {}, lang = 'en', title = 'Checking your browser' } = options
  const { noScript = 'This check needs JavaScript. Allow it for this page, or try again later.' } = options
  // an earlier answer is replaced
  const others = Object.entries(fields).filter(([name]) => name !== 'proof')
  const inputs = others.map(([name, value]) => hidden(name, value))
  return `<!doctype html>
<html lang="${escaped(lang)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<noscript><p>${escaped(noScript)}</p></noscript>
<form method="post" action="${escaped(action)}">
${inputs.join('\n')}
<progress aria-label="${escaped(title)}" data-submit></progress>
${proofField(options)}
</form>
</html>
`
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
}
