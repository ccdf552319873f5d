// The README promises that these can be tried in a Node started at the root; run by root-resolution.test.ts.
const loaded = {
  '@sluice/express': require('@sluice/express'),
  '@sluice/fastify': require('@sluice/fastify'),
  '@sluice/koa': require('@sluice/koa'),
  '@sluice/nest': require('@sluice/nest'),
  '@sluice/node-http': require('@sluice/node-http'),
  '@sluice/redis': require('@sluice/redis'),
  express: require('express'),
  express4: require('express4'),
  fastify: require('fastify'),
  fastify4: require('fastify4'),
  ioredis: require('ioredis'),
  ioredis5: require('ioredis5'),
  koa: require('koa'),
  koa2: require('koa2'),
}

console.log(JSON.stringify(Object.keys(loaded)))
