/** A result as a label: codes of ours are few; what else failed is `error`. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SLUICE_') ? code : 'error'
}
