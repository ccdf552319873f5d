import { expect, test } from '@jest/globals'
import { sluice } from '@sluice/fastify'
import fastifyPlugin from 'fastify-plugin'

const marksOf = (plugin: object): unknown =>
  Object.getOwnPropertySymbols(plugin).map((mark) => [mark, (plugin as Record<symbol, unknown>)[mark]])

// the package itself cannot be a dependency: ES module bundles of esbuild do not load it
test('the plugin has the marks that fastify-plugin sets', () => {
  const marked = fastifyPlugin(async () => {}, { name: '@sluice/fastify', fastify: '>=4 <6' })
  expect(marksOf(sluice)).toEqual(marksOf(marked))
})
