import { createRequire } from 'node:module'

/**
 * Returns ioredis. It is loaded when a client is created, so that teams with another client need not install it. Throws
 * the error of Node (`MODULE_NOT_FOUND`) if it is not installed.
 */
export function loadIoredis(): typeof import('ioredis') {
  // bundlers follow the first call; the source of this package is run as ES modules, without `require`
  return typeof require === 'function' ? require('ioredis') : createRequire(`${process.cwd()}/`)('ioredis')
}
