/** The code of an error of ours, be it of this copy of the packages or another one; undefined for all others. */
export function sluiceCodeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SLUICE_') ? code : undefined
}
