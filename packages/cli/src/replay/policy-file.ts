import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { type PolicyDocument, PolicyLists, parsePolicies } from '@sluice/policies'

/** Contents of a policy file. */
export interface PolicyFile {
  readonly document: PolicyDocument
  readonly lists: PolicyLists
}

/**
 * Reads a policy file and the lists that it names. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_POLICY_FILE` and
 * `SLUICE_POLICIES_UNREADABLE`.
 */
export async function readPolicyFile(path: string): Promise<PolicyFile> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new SluiceError('SLUICE_BAD_OPTION', `policies: expected a readable file, received ${messageOf(error)}`)
  }
  const document = parsePolicies(text, path)
  const lists = new PolicyLists(document, dirname(path))
  await lists.load()
  return { document, lists }
}

/** Returns the routes that policies name in `match`. */
export function routesOf({ document: { policies } }: Pick<PolicyFile, 'document'>): readonly string[] {
  return policies.flatMap(({ match }) => {
    const route = match?.route ?? []
    return (Array.isArray(route) ? route : [route]).map(String)
  })
}
