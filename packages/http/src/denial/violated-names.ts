import type { HttpDenial } from '@sluice/limiter-core/http'

/** Returns the names of the violated policies as the body of the denial lists them. */
export function violatedNames({ body }: HttpDenial): readonly string[] {
  return (JSON.parse(body) as { readonly 'violated-policies': readonly string[] })['violated-policies']
}
