import { CommandFailure, EXIT } from '../terminal/exit-code.ts'

/**
 * Returns the address of a live page, ending in a slash, without the view that a browser shows. Throws `CommandFailure` if
 * it is not an HTTP address, or contains a secret.
 */
export function pageAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw refused('an address such as http://localhost:3000/limits', text)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw refused('an address without user, password and query; pass a token in SLUICE_TOKEN', 'one of them')
  }
  url.hash = ''
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

function refused(expected: string, received: string): CommandFailure {
  return new CommandFailure(EXIT.usage, `url: expected ${expected}, received ${received}`)
}
