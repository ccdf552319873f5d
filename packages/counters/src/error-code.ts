/**
 * Returns the `SLUICE_…` code of an error, also if another copy of the package created it; undefined for other errors.
 */
export function sluiceCodeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SLUICE_') ? code : undefined
}
