const PAGE = 'https://github.com/sluicejs/sluice/blob/main/docs/errors.md'

/** Appends the link to the section of `code` in docs/errors.md. Internal to the Sluice packages, not a stable API. */
export function withErrorLink(code: string, message: string): string {
  const page = ` (${PAGE}#${code.toLowerCase()})`
  // a message that quotes an error with the same code already ends in the link
  return message.endsWith(page) ? message : message + page
}
