import { readFile } from 'node:fs/promises'
import { messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { type PolicyDocument, parsePolicies } from '@sluice/policies'

/** Returns the contents of a policy file. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_POLICY_FILE`. */
export async function readPolicyFile(path: string): Promise<PolicyDocument> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected a readable file, received ${messageOf(error)}`)
  }
  return parsePolicies(text, path)
}

/** Returns the routes that policies name in `match`. */
export function routesOf({ policies }: PolicyDocument): readonly string[] {
  return policies.flatMap(({ match }) => {
    const route = match?.route ?? []
    return (Array.isArray(route) ? route : [route]).map(String)
  })
}
