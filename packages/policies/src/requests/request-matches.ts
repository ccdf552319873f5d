import {
  ANONYMOUS,
  andThen,
  byIp,
  DENY,
  EXEMPT,
  type GroupedKeySource,
  type KeyGroup,
  type KeySource,
  type LimiterReport,
  type MaybePromise,
  type ReportFallback,
  type RequestView,
  reportNothing,
  resolveKey,
} from '@sluice/http'
import type { ListAnswer, PolicyLists } from '../lists/policy-lists.ts'
import type { AttributeSource } from '../matching/attribute-source.ts'
import { ADDRESS_MARK } from '../matching/policy-key.ts'
import type { MatchedPolicy, PolicyMatcher } from '../matching/policy-matcher.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { RouteWatch } from './route-watch.ts'

/** The policies that apply to a request, or what the lists decide instead. */
interface Matches {
  readonly listed: ListAnswer
  readonly policies: readonly MatchedPolicy[]
}

/** Full address of a client: lists contain single addresses. */
let byFullAddress: KeySource | undefined

/** The policies that apply to each request, found once per request. */
export class RequestMatches<Req extends object, Res> {
  readonly #matcher: PolicyMatcher
  readonly #attributes: RequestAttributes<Req, Res>
  readonly #lists: PolicyLists
  readonly #routes: RouteWatch | undefined
  readonly #found = new WeakMap<object, MaybePromise<Matches>>()
  readonly #group: KeyGroup<Req> = {
    placesOf: (view, report) =>
      andThen(this.#matchesOf(view.raw, view, report), ({ listed, policies }) =>
        listed === undefined ? policies.map(({ place }) => place) : [],
      ),
  }

  constructor(
    matcher: PolicyMatcher,
    attributes: RequestAttributes<Req, Res>,
    lists: PolicyLists,
    report: LimiterReport,
  ) {
    this.#matcher = matcher
    this.#routes = matcher.attributes.includes('route') ? new RouteWatch(report) : undefined
    this.#attributes = attributes
    this.#lists = lists
  }

  /** Key source of the policy that denies blocked clients. */
  readonly blocked: KeySource<Req> = (request, view, report = reportNothing) =>
    andThen(this.#matchesOf(request, view, report), ({ listed }) => (listed === 'block' ? DENY : EXEMPT))

  /** Returns the key source of a policy: requests to which the policy does not apply are exempt from it. */
  keySource(index: number): KeySource<Req> {
    const source: KeySource<Req> = (request, view, report = reportNothing) => {
      return andThen(this.#matchesOf(request, view, report), ({ listed, policies }) => {
        const key = placed(policies, index)?.key
        if (key === undefined || listed !== undefined) return EXEMPT
        if (key.charCodeAt(0) !== 0) return key
        // the limiter marks keys that start with NUL itself
        return key.startsWith(ADDRESS_MARK) ? ANONYMOUS : key.slice(1)
      })
    }
    const label = this.#matcher.policies[index].key.names.join(' + ')
    const member: GroupedKeySource<Req> = { group: this.#group, place: index }
    return Object.assign(source, { label }, member)
  }

  /** Returns the limit of a request whose key was asked for. */
  limitOf(index: number, request: Req): MaybePromise<number> {
    // requests to which the policy does not apply are exempt
    const found = this.#found.get(request)
    return andThen(found, (matches) => placed(matches?.policies ?? [], index)?.limit ?? Number.POSITIVE_INFINITY)
  }

  /** Returns the final cost of a request: an attribute that is a number; undefined if the reservation stays. */
  costOf(name: string, request: Req, response: Res, report: LimiterReport): MaybePromise<number | undefined> {
    return andThen(this.#attributes.value(name, report, request, response), (value) =>
      typeof value === 'number' ? value : undefined,
    )
  }

  #matchesOf(request: Req, view: RequestView<Req>, report: ReportFallback): MaybePromise<Matches> {
    const known = this.#found.get(request)
    if (known) return known
    this.#routes?.see(view.route)
    const found = andThen(this.#attributes.of(view, report), (read) => ({
      listed: this.#listed(view, read),
      policies: this.#matcher.applying(read),
    }))
    this.#found.set(request, found)
    return found
  }

  #listed(view: RequestView, read: AttributeSource): ListAnswer {
    if (this.#lists.isEmpty) return undefined
    byFullAddress ??= byIp({ ipv6Prefix: 128 })
    return this.#lists.answer(resolveKey(byFullAddress, view, reportNothing) as string, read)
  }
}

function placed(policies: readonly MatchedPolicy[], place: number): MatchedPolicy | undefined {
  return policies.find((one) => one.place === place)
}
