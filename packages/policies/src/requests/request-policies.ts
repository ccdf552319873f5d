import { LimiterReport, Observers, type RequestPolicy } from '@sluice/http'
import type { PolicyDocument } from '../document/policy-document.ts'
import { BLOCK_LIST, type PolicyLists } from '../lists/policy-lists.ts'
import type { FilePolicy } from '../matching/file-policy.ts'
import { PolicyMatcher } from '../matching/policy-matcher.ts'
import { limiterFields } from './limiter-fields.ts'
import { type AttributeFunctions, RequestAttributes } from './request-attributes.ts'
import { RequestMatches } from './request-matches.ts'

/** Returns the policies of a document for `rateLimit`. `report` receives failures of conditions and attributes. */
export function requestPolicies<Req extends object, Res>(
  document: PolicyDocument,
  functions: AttributeFunctions<Req, Res>,
  lists: PolicyLists,
  report: LimiterReport = new LimiterReport(new Observers(), () => document.policies.map(({ name }) => name)),
): readonly RequestPolicy<Req, Res>[] {
  const matcher = new PolicyMatcher(document, (policy, error, applied) => {
    const consequence = applied ? 'the policy applied to the request' : 'the policy did not apply to the request'
    report.hookFailed(`when of policy '${policy}'`, error, consequence)
  })
  const attributes = new RequestAttributes(functions, matcher.attributes, report)
  const matches = new RequestMatches(matcher, attributes, lists, report)
  const policies = matcher.policies.map((policy, index) => requestPolicy(policy, index, matches, report))
  if (!lists.blocks) return policies
  // an additional policy, because policies in shadow mode would not deny blocked clients
  return [...policies, { name: BLOCK_LIST, limit: 1, window: '1m', key: matches.blocked }]
}

function requestPolicy<Req extends object, Res>(
  { written, overrides }: FilePolicy,
  index: number,
  matches: RequestMatches<Req, Res>,
  report: LimiterReport,
): RequestPolicy<Req, Res> {
  const { limit, cost } = written
  return {
    ...limiterFields(written),
    limit: typeof limit === 'number' ? limit : (request) => matches.limitOf(index, request),
    key: matches.keySource(index),
    ...(overrides && { overrides }),
    ...(typeof cost === 'number' && { cost }),
    ...(typeof cost === 'object' && {
      cost: {
        reserve: cost.reserve,
        settle: (request: Req, response: Res) => matches.costOf(cost.settle, request, response, report),
      },
    }),
  }
}
