import type { MatchIndex } from '../matching/match-index.ts'
import { indexOf, replacersOf } from '../matching/replacements.ts'
import type { CheckedPolicy } from './checked-policy.ts'

/** Finds the policies of a document that replace another policy, or match all its requests. */
export class PolicyRelations {
  readonly policies: readonly CheckedPolicy[]
  readonly #places: ReadonlyMap<CheckedPolicy, number>
  readonly #index: MatchIndex
  readonly #replacers: readonly (readonly CheckedPolicy[])[]

  constructor(policies: readonly CheckedPolicy[]) {
    const files = policies.map(({ file }) => file)
    this.policies = policies
    this.#places = new Map(policies.map((policy, place) => [policy, place]))
    this.#index = indexOf(files)
    this.#replacers = replacersOf(files, this.#index).map((places) =>
      places.map((place) => policies[place]).filter(({ mode }) => mode !== 'off'),
    )
  }

  /** Returns the place of a policy in the document. */
  placeOf(policy: CheckedPolicy): number {
    return this.#places.get(policy) as number
  }

  /** Returns the policies whose `match` fits all requests of a policy, itself included. */
  including({ file }: CheckedPolicy): readonly CheckedPolicy[] {
    return this.#index.including(file.match).map((place) => this.policies[place])
  }

  /** Returns the policies that are not off and replace a policy on the requests that both match. */
  replacersOf(policy: CheckedPolicy): readonly CheckedPolicy[] {
    return this.#replacers[this.placeOf(policy)]
  }
}
