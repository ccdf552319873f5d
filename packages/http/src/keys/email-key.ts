import { badOption, optionsOf } from '@sluice/limiter-core/http'

/** What differs between addresses of one person: nothing is ignored, always, or at these domains. */
export type IgnoredPart = 'keep' | 'ignore' | readonly string[]

export interface EmailKeyOptions {
  /** Whether to ignore a tag: `ada+news@example.org` is `ada@example.org`, as for most providers. */
  readonly plusTags: IgnoredPart
  /** Whether to ignore dots before the `@`: `a.da@gmail.com` is `ada@gmail.com`, as for Gmail alone. */
  readonly dots: IgnoredPart
}

/** Longest address that is read, in UTF-16 code units. RFC 5321 permits 254 bytes. */
const LONGEST = 320
/** Control characters and halves of characters, and what would end a host name. */
const [UNREADABLE, NO_HOST] = [/[\p{Cc}\p{Cs}]/u, /[\s/?#:@\\[\]%<>^|]/]

/**
 * Returns a function that reads an e-mail address as a key, for `byPrincipal`: all spellings of one address have one
 * key. Case, the form of characters in Unicode, spaces around the address, a dot at its end and the spelling of an
 * international domain never differ; `plusTags` and `dots` are choices, since they depend on the provider.
 *
 * The function returns undefined for anything else, so that such a request is counted by its client address. Throws
 * `SLUICE_BAD_OPTION` for invalid options.
 */
export function emailKey(options: EmailKeyOptions): (address: unknown) => string | undefined {
  const { plusTags, dots } = optionsOf('emailKey', options, ['plusTags', 'dots'])
  const ignoresTag = ignoredAt('plusTags', plusTags)
  const ignoresDots = ignoredAt('dots', dots)
  return (address) => {
    const [name, domain] = partsOf(address)
    if (!name || domain === undefined) return undefined
    // what is quoted is taken literally
    if (name.startsWith('"')) return `${name}@${domain}`
    const tag = ignoresTag(domain) ? name.indexOf('+') : 0
    const untagged = tag > 0 ? name.slice(0, tag) : name
    const undotted = ignoresDots(domain) ? untagged.replaceAll('.', '') : untagged
    return `${undotted || untagged}@${domain}`
  }
}

/** Returns what is before and behind the last `@`; nothing for anything but an address. */
function partsOf(address: unknown): readonly [name?: string, domain?: string | undefined] {
  if (typeof address !== 'string' || address.length > LONGEST) return []
  const text = folded(address.trim())
  if (UNREADABLE.test(text)) return []
  const at = text.lastIndexOf('@')
  return at < 0 ? [] : [text.slice(0, at), domainOf(text.slice(at + 1))]
}

/** Returns text without differences of case and form. Lower case can change the form, and the other way round. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** Returns the ASCII form of a domain; undefined if the text is invalid. */
function domainOf(text: string): string | undefined {
  const name = text.replace(/\.+$/, '')
  if (name === '' || NO_HOST.test(name)) return undefined
  try {
    return new URL(`http://${name}`).hostname
  } catch {
    return undefined
  }
}

function ignoredAt(option: string, part: unknown): (domain: string) => boolean {
  if (part === 'keep') return () => false
  if (part === 'ignore') return () => true
  const domains = Array.isArray(part)
    ? part.map((one) => (typeof one === 'string' ? domainOf(folded(one)) : undefined))
    : []
  if (domains.length > 0 && !domains.includes(undefined)) return (domain) => domains.includes(domain)
  throw badOption(`emailKey: ${option}`, part, "'keep', 'ignore' or a list of domains")
}
