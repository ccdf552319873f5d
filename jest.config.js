import { transform } from './tools/tests/swc-options.cjs'

/** Tests read the packages' source, so none needs a build but test/packaging, which checks what is published. */
export default {
  // packages/ too, so that a watch or --findRelatedTests sees a changed source file
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/packages/[^/]+/dist/'],
  // each loaded module would get globals of its own, and tests import what they use
  injectGlobals: false,
  testEnvironment: '<rootDir>/tools/tests/jest-environment.mjs',
  testEnvironmentOptions: {
    customExportConditions: ['@sluice/source', 'node', 'require', 'default'],
    // what a process shares lives on its global, and is used after a file has ended, too
    globalsCleanup: 'off',
  },
  // jest loads CommonJS, and Nest 12 is no such thing: here Nest is 11, and 12 runs in processes of its own
  moduleNameMapper: {
    '^@nestjs/(common|core|microservices|platform-express|platform-fastify|platform-ws|websockets)(/.*)?$':
      '<rootDir>/test/nest11/node_modules/@nestjs/$1$2',
  },
  transform,
  // workspaces are met by their real path under packages/, so their source is transformed
  transformIgnorePatterns: ['/node_modules/', '/dist/'],
  // a look-up of a global leaves the sandbox of a test file: what tight loops use is handed in
  sandboxInjectedGlobals: [
    ...['Math', 'Number', 'BigInt', 'String', 'Symbol', 'Object', 'Reflect', 'Array', 'Map', 'Set', 'WeakMap'],
    ...['Promise', 'Error', 'JSON', 'Uint8Array', 'Uint16Array', 'Uint32Array', 'Int32Array', 'Float64Array'],
  ],
  testSequencer: '<rootDir>/tools/tests/duration-sequencer.mjs',
  // twice the cores: many tests wait for servers
  maxWorkers: 4,
  // tests wait for what they observe: this is for those that wait in vain, on a busy machine too
  testTimeout: 120_000,
  // a worker keeps something of every file that it ran, and there are hundreds
  workerIdleMemoryLimit: '1GB',
}
