import assert from 'node:assert/strict'
import type { TestRunner } from '../../suite-runner.ts'
import type { CapOptions } from '../stage/app-description.ts'
import { type BuildingStage, Gate, type Site } from '../stage/stage.ts'
import { until } from '../stage/until.ts'
import { Watcher } from '../stage/watcher.ts'
import type { LayeredDescription, LayerSpec } from './layered-description.ts'

type LayeredStage = BuildingStage<LayeredDescription>

/** Tests of the caps that apply to a request if a route and the application each have one. */
export function capOverrides({ describe, test }: TestRunner, stage: LayeredStage): void {
  describe('a cap of a route', () => {
    test('that is absent leaves the cap of the application in effect', () =>
      placesOf(stage, undefined, '1 of all, 0 of its own'))
    test('replaces one of the same name', () => placesOf(stage, { name: 'all', limit: 1 }, '0 of all, 1 of its own'))
    test('is added to one of another name', () => placesOf(stage, { name: 'own', limit: 1 }, '1 of all, 1 of its own'))
    test('is removed by false', () => placesOf(stage, false, '0 of all, 0 of its own'))
    test('denies with its own name and status', () => denies(stage))
    test('releases every permit when a request is over', () => givesBack(stage))
  })
}

interface Capped {
  readonly site: Site
  readonly gate: Gate
  readonly all: Watcher
  readonly own: Watcher
}

async function capped(stage: LayeredStage, options: CapOptions | false | undefined): Promise<Capped> {
  const [gate, all, own] = [new Gate(), new Watcher(), new Watcher()]
  const layer: LayerSpec = options === undefined ? {} : { inflightLimit: options && { ...options, observers: [own] } }
  const site = await stage.serve({
    app: { inflightLimit: { name: 'all', limit: 2, observers: [all] } },
    routes: [{ path: '/', layer, handler: gate.handler }],
  })
  return { site, gate, all, own }
}

async function placesOf(stage: LayeredStage, options: CapOptions | false | undefined, expected: string): Promise<void> {
  const { site, gate, all, own } = await capped(stage, options)
  const { answer } = site.start()
  await until(() => gate.entered === 1)
  assert.equal(`${all.held} of all, ${own.held} of its own`, expected)
  gate.open()
  assert.equal((await answer).status, 200)
  await until(() => all.held + own.held === 0, { what: 'held places to come back' })
}

async function denies(stage: LayeredStage): Promise<void> {
  const { site, gate, all } = await capped(stage, { name: 'own', limit: 1, status: 429 })
  const { answer } = site.start()
  await until(() => gate.entered === 1)
  const denied = await site.ask()
  assert.equal(denied.status, 429)
  assert.deepEqual(JSON.parse(denied.body)['violated-policies'], ['own'])
  // the denied request releases its place in the application's cap
  await until(() => all.held === 1)
  gate.open()
  assert.equal((await answer).status, 200)
}

async function givesBack(stage: LayeredStage): Promise<void> {
  const { site, gate, all, own } = await capped(stage, { name: 'own', limit: 2 })
  const left = site.start()
  await until(() => gate.entered === 1)
  left.abort()
  const stayed = site.start()
  await until(() => gate.entered === 2)
  gate.open()
  assert.equal((await stayed.answer).status, 200)
  await until(() => all.held + own.held === 0, { what: 'held places to come back' })
  assert.deepEqual([all.acquired, all.released, own.acquired, own.released], [2, 2, 2, 2])
}
