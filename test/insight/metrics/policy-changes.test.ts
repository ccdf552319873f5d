import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import { exposedSeries } from './exposed-series.ts'

test('changes of policy documents are counted by source and outcome', () => {
  const insight = createInsight()
  insight.event('policies', { source: 'policies.yaml' })
  insight.event('policies', { source: 'policies.yaml' })
  insight.event('policies', { source: 'policies.yaml', refused: new Error('invalid') })
  const changes = exposedSeries(prometheusText(insight)).filter(({ name }) => name === 'sluice_policy_changes_total')
  expect(changes.map(({ labels, value }) => [labels.source, labels.outcome, value])).toEqual([
    ['policies.yaml', 'applied', 2],
    ['policies.yaml', 'refused', 1],
  ])
})
