import type { Edit } from '../extension.ts'

/** The edits that add `leaky-meter`, in the order of the list in ARCHITECTURE.md. */
export const edits: readonly Edit[] = [
  {
    path: 'packages/limiter-core/src/contracts/decisions/policy.ts',
    after: "'token-bucket' | 'gcra'",
    insert: " | 'leaky-meter'",
  },
  {
    path: 'packages/limiter-core/src/algorithms/index.ts',
    after: "import { gcra } from './gcra.ts'\n",
    insert: "import { leakyMeter } from './leaky-meter.ts'\n",
  },
  {
    path: 'packages/limiter-core/src/algorithms/index.ts',
    after: '  gcra,\n',
    insert: "  'leaky-meter': leakyMeter,\n",
  },
  {
    path: 'packages/limiter-core/src/algorithms/policy-forms.ts',
    after: "['token-bucket', 'gcra'",
    insert: ", 'leaky-meter'",
  },
  { path: 'packages/redis/src/lua/policy-args.ts', after: "  | 'gcra'\n", insert: "  | 'leaky-meter'\n" },
  {
    path: 'packages/redis/src/lua/policy-args.ts',
    after: "  gcra: ['capacity', 'windowMs', 'limit'],\n",
    insert: "  'leaky-meter': ['capacity', 'windowMs', 'limit'],\n",
  },
  {
    path: 'packages/redis/src/lua/policy-args.ts',
    after: "if (algorithm === 'token-bucket' || algorithm === 'gcra'",
    insert: " || algorithm === 'leaky-meter'",
  },
  { path: 'packages/postgres/src/functions/kinds.ts', after: "  'gcra',\n", insert: "  'leaky-meter',\n" },
  { path: 'packages/postgres/src/functions/kinds.ts', after: '  holding: 8,\n', insert: "  'leaky-meter': 9,\n" },
  {
    path: 'packages/fleet/src/sync/synced-policies.ts',
    after: "'sliding-window', 'token-bucket', 'gcra'",
    insert: ", 'leaky-meter'",
  },
  {
    path: 'packages/testkit/src/models/reference-model.ts',
    after: "import { fixedWindowRule } from './fixed-window-rule.ts'\n",
    insert: "import { leakyMeterRule } from './leaky-meter-rule.ts'\n",
  },
  {
    path: 'packages/testkit/src/models/reference-model.ts',
    after: "if (policy.algorithm === 'sliding-log') return logRule(policy)\n",
    insert: "  if (policy.algorithm === 'leaky-meter') return leakyMeterRule(policy)\n",
  },
  {
    path: 'packages/testkit/src/contracts/contract-policies.ts',
    after: '  gcra: [{ limit: 1 }, { limit: 7 }, { limit: 60, burst: 3 }, { limit: 3, burst: 50 }],\n',
    insert: "  'leaky-meter': [{ limit: 1 }, { limit: 7 }, { limit: 60, burst: 3 }, { limit: 3, burst: 50 }],\n",
  },
  { path: 'test/algorithms/any-policy.ts', after: "  'gcra',\n", insert: "  'leaky-meter',\n" },
  {
    path: 'test/algorithms/any-policy.ts',
    after: "drainingNames: readonly AlgorithmName[] = ['token-bucket', 'gcra'",
    insert: ", 'leaky-meter'",
  },
  {
    path: 'test/algorithms/promises/promises.ts',
    after: "  ['gcra, burst 10', { algorithm: 'gcra', limit: 100, burst: 10 }, 1.1, 1.09],\n",
    insert: "  ['leaky-meter, burst 10', { algorithm: 'leaky-meter', limit: 100, burst: 10 }, 1.1, 1.09],\n",
  },
  { path: 'test/floods/recovery/flood-recovery.ts', after: '  gcra: 1,\n', insert: "  'leaky-meter': 1,\n" },
  {
    path: 'test/regression/plans/change-of-plan.test.ts',
    after: '  gcra: 1_000,\n',
    insert: "  'leaky-meter': 1_000,\n",
  },
  {
    path: 'test/redis/lua/lua-files.test.ts',
    after: "'sliding-log', 'token-bucket', 'gcra'",
    insert: ", 'leaky-meter'",
  },
  {
    path: 'docs/algorithms.md',
    after: '| An even rate with a burst | `token-bucket` with `burst`; `gcra` for the least memory |\n',
    insert: '| A rate as networks measure it | `leaky-meter` |\n',
  },
  { path: 'docs/policies.md', after: "`'token-bucket'`, `'gcra'`", insert: ", `'leaky-meter'`" },
]
