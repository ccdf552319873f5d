import type { ProxyTrust } from '../proxy-trust.ts'

/** Returns entries of the option `trust` as source text. */
export function trustText(entries: readonly ProxyTrust[]): string {
  const texts = entries.map(entryText)
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
}

function entryText(entry: ProxyTrust): string {
  if (typeof entry === 'string') return `'${entry}'`
  const values = Object.entries(entry).map(([name, value]) => `${name}: ${valueText(value)}`)
  return `{ ${values.join(', ')} }`
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  return typeof value === 'string' ? `'${value}'` : String(value)
}
