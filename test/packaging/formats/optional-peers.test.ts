import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { build } from 'esbuild'
import webpack from 'webpack'
import { root } from '../../repository.ts'

const MISSING = Object.fromEntries(
  ['@nestjs/websockets', '@nestjs/microservices'].map((name) => [name, '/not-installed']),
)
const OUTSIDE = /^(@nestjs\/(common|core)|rxjs)/

const bundlers: Readonly<Record<string, (entry: string, format: 'esm' | 'cjs') => Promise<unknown>>> = {
  async esbuild(entry, format) {
    const external = ['@nestjs/common', '@nestjs/core', 'rxjs']
    const bundle = { bundle: true, write: false, platform: 'node', logLevel: 'silent' } as const
    const { errors } = await build({ entryPoints: [entry], ...bundle, format, alias: MISSING, external })
    return errors
  },
  async webpack(entry) {
    const compiler = webpack({
      mode: 'none',
      target: 'node20',
      entry,
      resolve: { alias: MISSING },
      externals: ({ request = '' }, done) => (OUTSIDE.test(request) ? done(undefined, `commonjs ${request}`) : done()),
    })
    compiler.hooks.shouldEmit.tap('test', () => false)
    return new Promise((resolve, reject) =>
      compiler.run((error, stats) => (error ? reject(error) : resolve(stats?.compilation.errors))),
    )
  },
}

describe.each(Object.keys(bundlers))('%s', (bundler) => {
  test.each(['esm', 'cjs'] as const)(
    'bundles @sluice/nest as %s without gateways and microservices',
    async (format) => {
      const entry = join(root, 'packages/nest/dist', format, 'index.js')
      expect(await bundlers[bundler](entry, format)).toEqual([])
    },
  )
})
